import { FrameError, ProtocolError, toErrorObject } from "../../errors.ts";
import {
  ErrorCode,
  isJSONObject,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type Params,
  type RequestId,
  type Result,
} from "../../messages.ts";
import { RawId } from "../framing/message_encoder.ts";
import type { Sender } from "./sender.ts";
import type { ClientSettings } from "./settings.ts";

/** A request of a server that is being answered. The object itself tells it from another one under the same id. */
interface OpenRequest {
  /** The id as it goes back: the very digits, for an integer that a number cannot hold. */
  readonly id: RequestId;
}

/** Answers what a legacy server asks its client: `ping` always, the rest by the handlers for input (rule C11). */
export class ServerRequests {
  readonly #settings: ClientSettings;
  readonly #sender: Sender;
  readonly #open = new Map<RequestId, OpenRequest>();

  constructor(settings: ClientSettings, sender: Sender) {
    this.#settings = settings;
    this.#sender = sender;
  }

  /** Answers a request, now or later. */
  answer({ id, method, params = {} }: JSONRPCRequest, idText: string | undefined): void {
    const request = { id: idText === undefined ? id : new RawId(idText) as unknown as RequestId };
    this.#open.set(id, request);
    const isOpen = () => this.#open.get(id) === request && this.#open.delete(id);
    this.#answerOf(method, params).then(
      (result) => {
        if (isOpen()) this.#respond({ jsonrpc: "2.0", id: request.id, result });
      },
      (error) => {
        if (!(error instanceof ProtocolError)) {
          this.#settings.logger.error(`[mcp_router] the handler of "${method}" has failed`, { error });
        }
        if (isOpen()) this.#respond({ jsonrpc: "2.0", id: request.id, error: toErrorObject(error) });
      },
    );
  }

  /** The server no longer wants the answer. */
  cancel(id: RequestId): void {
    this.#open.delete(id);
  }

  /** Nobody is left to answer to. */
  endAll(): void {
    this.#open.clear();
  }

  async #answerOf(method: string, params: Params): Promise<Result> {
    if (method === "ping") return {};
    const { inputHandlers } = this.#settings;
    if (Object.hasOwn(inputHandlers, method)) {
      const result = await inputHandlers[method]!(params);
      if (isJSONObject(result)) return result;
      throw new TypeError("its result is no object");
    }
    throw new ProtocolError(ErrorCode.methodNotFound, `Method not found: ${method.slice(0, 128)}`);
  }

  #respond(response: JSONRPCMessage & { readonly id?: RequestId | undefined }): void {
    try {
      this.#sender.send(response);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#settings.logger.error("[mcp_router] an answer to the server cannot be written", { error });
      const { id } = response;
      this.#sender.send({
        jsonrpc: "2.0",
        id,
        error: { code: ErrorCode.internalError, message: "Internal error" },
      });
    }
  }
}
