import type { ByteStreams } from "../../runtime.ts";
import {
  type ProcessEnd,
  type Servable,
  serveProcess,
  type ServeProcessSettings,
} from "../process/serve_process.ts";
import type { BasicServerSettings, ServerEnd } from "../server/settings.ts";
import { StreamConnection } from "../stream_connection.ts";
import type { SdkServerFactory } from "./sdk_shapes.ts";
import { SdkSession } from "./sdk_session.ts";

/** What serving needs; all of it is set but the hook, and `logger` must not throw. */
export interface ServeSdkSettings extends ServeProcessSettings<ServerEnd>, BasicServerSettings {}

/** Makes this process a server of one of the SDKs, with the guard, the limits, the drain and the exit of ours (rule K3). */
export function serveSdk(factory: SdkServerFactory, settings: ServeSdkSettings): Promise<ServerEnd> {
  return serveProcess(new SdkServable(factory, settings), settings);
}

class SdkServable implements Servable<ServerEnd> {
  readonly #factory: SdkServerFactory;
  readonly #settings: ServeSdkSettings;
  #session: SdkSession | undefined;

  constructor(factory: SdkServerFactory, settings: ServeSdkSettings) {
    this.#factory = factory;
    this.#settings = settings;
  }

  run(client: ByteStreams): Promise<ServerEnd> {
    const { limits, trace } = this.#settings;
    const connection = new StreamConnection(client, { ...limits, trace });
    this.#session = new SdkSession(this.#factory, connection, this.#settings);
    return this.#session.run();
  }

  stop(end: ProcessEnd): void {
    this.#session?.stop(end);
  }

  get hasRead(): boolean {
    return this.#session?.hasRead ?? false;
  }
}
