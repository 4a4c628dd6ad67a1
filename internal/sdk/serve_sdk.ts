import { type Servable, serveProcess, type ServeProcessSettings } from "../process/serve_process.ts";
import type { BasicServerSettings, ServerEnd } from "../server/settings.ts";
import { StreamConnection } from "../stream_connection.ts";
import type { SdkServerFactory } from "./sdk_shapes.ts";
import { SdkSession } from "./sdk_session.ts";

/** What serving needs; all of it is set but the hook, and `logger` must not throw. */
export interface ServeSdkSettings extends ServeProcessSettings<ServerEnd>, BasicServerSettings {}

/** Makes this process a server of one of the SDKs, with the guard, the limits, the drain and the exit of ours (rule K3). */
export function serveSdk(factory: SdkServerFactory, settings: ServeSdkSettings): Promise<ServerEnd> {
  let session: SdkSession | undefined;
  const servable: Servable<ServerEnd> = {
    run(client) {
      const { limits, trace } = settings;
      session = new SdkSession(factory, new StreamConnection(client, { ...limits, trace }), settings);
      return session.run();
    },
    stop: (end) => session?.stop(end),
    get hasRead() {
      return session?.hasRead ?? false;
    },
  };
  return serveProcess(servable, settings);
}
