import {
  type Era,
  type Implementation,
  isJSONObject,
  type JSONRPCMessage,
  LATEST_PROTOCOL_VERSION,
  MODERN_PROTOCOL_VERSIONS,
  type RequestId,
  type ServerCapabilities,
} from "../../messages.ts";

/** What the SDKs ask of a transport, by its shape. */
export interface SdkTransport {
  /** Called when it has ended. */
  onclose?: (() => void) | undefined;
  /** Called with what went wrong. */
  onerror?: ((error: Error) => void) | undefined;
  /** Takes each message; `extra` is what SDK 2.x is told besides. */
  onmessage?: ((message: JSONRPCMessage, extra?: unknown) => void) | undefined;
  /** Begins to read. */
  start(): Promise<void>;
  /** Sends a message. */
  send(
    message: JSONRPCMessage,
    options?: { readonly relatedRequestId?: RequestId | undefined },
  ): Promise<void>;
  /** Ends it. */
  close(): Promise<void>;
}

/** What SDK 2.x is told of a message besides. */
export interface MessageExtra {
  classification?: { era: Era; revision?: string };
}

/** What is used of an `McpServer` or a `Server` of either SDK. */
export interface SdkServer {
  /** Takes a transport and starts it. */
  connect(transport: SdkTransport): Promise<void>;
  /** Closes its transport. */
  close(): Promise<void>;
}

/** Makes a server for an era, as `serveStdio` of SDK 2.x calls it. Servers of SDK 1.x serve the legacy era only. */
export type SdkServerFactory = (context: { readonly era: Era }) => SdkServer | Promise<SdkServer>;

/** What a `Server` of SDK 2.x has beside: no part of its interface, but what its own `serveStdio` uses. */
export interface ModernServer {
  _negotiatedProtocolVersion: string | undefined;
  _supportedProtocolVersions: string[];
  readonly _serverInfo: Implementation;
  _ondiscover(): unknown;
  getCapabilities(): ServerCapabilities;
  setRequestHandler(method: string, handler: () => unknown): void;
}

/** The `Server` of SDK 2.x behind what a factory made; undefined if it can serve the legacy era only. */
export function modernServerOf(product: SdkServer): ModernServer | undefined {
  const { server = product } = product as { server?: unknown };
  return isModernServer(server) ? server : undefined;
}

/** Gives a server to the modern era, as `serveStdio` of SDK 2.x does: from then on it reads and writes that era's messages. */
export function makeModern(server: ModernServer): void {
  server._negotiatedProtocolVersion = LATEST_PROTOCOL_VERSION;
  const missing = MODERN_PROTOCOL_VERSIONS.filter((version) =>
    !server._supportedProtocolVersions.includes(version)
  );
  if (missing.length > 0) {
    server._supportedProtocolVersions = [...server._supportedProtocolVersions, ...missing];
  }
  server.setRequestHandler("server/discover", () => server._ondiscover());
}

function isModernServer(server: unknown): server is ModernServer {
  const { _supportedProtocolVersions, _ondiscover, getCapabilities, setRequestHandler } = Object(server);
  return isJSONObject(server) && "_negotiatedProtocolVersion" in server && isJSONObject(server._serverInfo) &&
    Array.isArray(_supportedProtocolVersions) &&
    [_ondiscover, getCapabilities, setRequestHandler].every((method) => typeof method === "function");
}
