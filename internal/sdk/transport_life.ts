import type { Logger } from "../../logger.ts";
import { isJSONObject, type JSONRPCMessage, type RequestId } from "../../messages.ts";
import { callGuarded } from "../thrown.ts";
import { flushLogger } from "../safe_logger.ts";
import { isThenable } from "../promises.ts";
import type { SdkTransport } from "./sdk_shapes.ts";
import { cannotStart, closed, notStarted, toSendError } from "./transport_errors.ts";

/** The fields of a transport that the SDKs assign; they are read at each call, since the SDKs assign them again. */
export type TransportCallbacks = Pick<SdkTransport, "onclose" | "onerror" | "onmessage">;

/** What a transport is while it is operational. */
export interface TransportWire {
  send(message: JSONRPCMessage, relatedId?: RequestId): Promise<void>;
  /** Ends it; every call resolves when the end is over. */
  close(): Promise<void>;
}

type State<Wire> =
  | { readonly phase: "new" }
  /** Without a wire as long as it is being opened. */
  | { readonly phase: "operational"; readonly wire: Wire | undefined }
  | { readonly phase: "stopped"; readonly wire: Wire | undefined };

/** The states of a transport and its callbacks (rule K2): started once, closed once, and told of it once. */
export class TransportLife<Wire extends TransportWire> {
  readonly #name: string;
  readonly #callbacks: TransportCallbacks;
  readonly #logger: Logger;
  #state: State<Wire> = { phase: "new" };

  /** `logger` is told of callbacks that throw, and must not throw itself. */
  constructor(name: string, callbacks: TransportCallbacks, logger: Logger) {
    this.#name = name;
    this.#callbacks = callbacks;
    this.#logger = logger;
  }

  /** What was opened; also after the end. */
  get wire(): Wire | undefined {
    return this.#state.phase === "new" ? undefined : this.#state.wire;
  }

  /**
   * Opens the wire with what has been prepared, unless it was closed meanwhile.
   *
   * @throws {TypeError} As a rejection, if it is not new.
   */
  async start<T>(prepare: () => T | Promise<T>, open: (prepared: T) => Wire): Promise<Wire> {
    if (this.#state.phase !== "new") throw cannotStart(this.#name, this.#state.phase);
    this.#state = { phase: "operational", wire: undefined };
    try {
      const preparing = prepare();
      const prepared = isThenable(preparing) ? await preparing : preparing;
      if (this.#isStopped) throw cannotStart(this.#name, "stopped");
      const wire = open(prepared);
      this.#state = { phase: "operational", wire };
      return wire;
    } catch (error) {
      this.closed();
      throw error;
    }
  }

  async send(message: JSONRPCMessage, relatedId: RequestId | undefined): Promise<void> {
    if (!isJSONObject(message)) throw new TypeError("Cannot send the message: it is not an object");
    if (this.#state.phase === "stopped") throw closed();
    if (this.wire === undefined) throw notStarted();
    try {
      await this.wire.send(message, relatedId);
    } catch (error) {
      throw toSendError(error);
    }
  }

  async close(): Promise<void> {
    if (this.wire !== undefined) return await this.wire.close();
    // What was never handed to a running transport is left alone, and nobody is told.
    if (this.#state.phase === "new") this.#state = { phase: "stopped", wire: undefined };
    else this.closed();
  }

  // What a wire tells.

  receive(message: JSONRPCMessage): unknown {
    const { onmessage } = this.#callbacks;
    if (onmessage === undefined) throw new TypeError("Cannot hand over a message: onmessage is not set");
    return onmessage.call(this.#callbacks, message);
  }

  failed(error: Error): void {
    this.#tell("onerror", () => this.#callbacks.onerror?.(error));
  }

  closed(): void {
    if (this.#isStopped) return;
    this.#state = { phase: "stopped", wire: this.wire };
    this.#tell("onclose", () => this.#callbacks.onclose?.());
    flushLogger(this.#logger);
  }

  draining(): void {}

  aborting(): void {}

  get #isStopped(): boolean {
    return this.#state.phase === "stopped";
  }

  #tell(name: string, call: () => unknown): void {
    callGuarded(call, (error) => this.#logger.error(`[mcp_stdio] ${name} has failed`, { error }));
  }
}
