import type { JSONRPCMessage, RequestId } from "../../messages.ts";
import type { SdkTransport } from "./sdk_shapes.ts";
import { closed, toSendError } from "./transport_errors.ts";

/** The transport that one server instance is connected to; what is behind it is shared with the other era's. */
export class EraChannel implements SdkTransport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage, extra?: unknown) => void) | undefined;
  readonly #send: (message: JSONRPCMessage, relatedId: RequestId | undefined) => Promise<void>;
  readonly #onClosed: () => void;
  #open = true;

  /** `onClosed` is told when the instance closes itself. */
  constructor(
    send: (message: JSONRPCMessage, relatedId: RequestId | undefined) => Promise<void>,
    onClosed: () => void,
  ) {
    this.#send = send;
    this.#onClosed = onClosed;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId | undefined }): Promise<void> {
    if (!this.#open) throw closed();
    try {
      await this.#send(message, options?.relatedRequestId);
    } catch (error) {
      throw toSendError(error);
    }
  }

  close(): Promise<void> {
    if (!this.#open) return Promise.resolve();
    this.#open = false;
    this.#onClosed();
    this.onclose?.();
    return Promise.resolve();
  }
}
