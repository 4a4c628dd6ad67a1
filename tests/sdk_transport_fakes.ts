/** Servers that only look like those of the SDKs, and keep what they are given. */

import type { SdkServer, SdkTransport } from "../internal/sdk/sdk_shapes.ts";
import { type Implementation, isRequest, type JSONRPCMessage, type RequestId } from "../messages.ts";

/** A server that looks like one of SDK v1 and keeps what it is given. */
export class FakeV1 implements SdkServer {
  transport: SdkTransport | undefined;
  readonly received: JSONRPCMessage[] = [];
  readonly extras: unknown[] = [];
  readonly errors: Error[] = [];
  closes = 0;
  /** How often it was asked to close. */
  closeCalls = 0;
  /** Requests of these methods are not answered. */
  readonly silent: Set<string> = new Set(["wait"]);

  async connect(transport: SdkTransport): Promise<void> {
    if (this.transport !== undefined) throw new Error("it is connected already");
    this.transport = transport;
    transport.onmessage = (message, extra) => {
      this.received.push(message);
      this.extras.push(extra);
      if (isRequest(message) && !this.silent.has(message.method)) {
        const answer: JSONRPCMessage = {
          jsonrpc: "2.0",
          id: message.id,
          result: this.resultOf(message.method),
        };
        this.send(answer).catch((error) => this.errors.push(error)); // As the SDKs do.
      }
    };
    transport.onerror = (error) => void this.errors.push(error);
    transport.onclose = () => void this.closes++;
    await transport.start();
  }

  resultOf(method: string): { [key: string]: unknown } {
    return method === "initialize" ? { protocolVersion: "2025-11-25" } : { by: "legacy" };
  }

  send(message: JSONRPCMessage, relatedRequestId?: RequestId): Promise<void> {
    return this.transport!.send(message, { relatedRequestId });
  }

  async close(): Promise<void> {
    this.closeCalls++;
    await this.transport?.close();
  }

  get methods(): unknown[] {
    return this.received.map((message) => "method" in message ? message.method : message);
  }
}

/** A server that looks like one of SDK v2. */
export class FakeV2 extends FakeV1 {
  _negotiatedProtocolVersion: string | undefined = undefined;
  _supportedProtocolVersions: string[] = ["2025-11-25"];
  readonly _serverInfo: Implementation = { name: "fake", version: "1.0.0" };
  readonly handlers: string[] = [];

  _ondiscover(): object {
    return {};
  }

  getCapabilities(): object {
    return { tools: { listChanged: true } };
  }

  setRequestHandler(method: string): void {
    this.handlers.push(method);
  }

  override resultOf(method: string): { [key: string]: unknown } {
    if (this._negotiatedProtocolVersion === undefined) return super.resultOf(method);
    return {
      resultType: "complete",
      _meta: { "io.modelcontextprotocol/serverInfo": this._serverInfo },
      by: "modern",
    };
  }
}
