import type { JSONRPCMessage, RequestId } from "../../messages.ts";
import type { MessageExtra, SdkServer, SdkTransport } from "./sdk_shapes.ts";
import { closed, toSendError } from "./transport_errors.ts";

/** A server of one of the SDKs, and the transport it is connected to; what is behind that is shared with the other era's. */
export class SdkInstance implements SdkTransport {
  readonly product: SdkServer;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage, extra?: unknown) => void) | undefined;
  readonly #send: (message: JSONRPCMessage, relatedId: RequestId | undefined) => Promise<void>;
  readonly #onClosed: () => void;
  #open = true;

  /** `onClosed` is told when the instance closes itself. */
  constructor(
    product: SdkServer,
    send: (message: JSONRPCMessage, relatedId: RequestId | undefined) => Promise<void>,
    onClosed: () => void,
  ) {
    this.product = product;
    this.#send = send;
    this.#onClosed = onClosed;
  }

  /** Hands it a message. */
  hand(message: JSONRPCMessage, extra?: MessageExtra): void {
    this.onmessage?.(message, extra);
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
