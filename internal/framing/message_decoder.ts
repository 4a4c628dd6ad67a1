import type { Fault, Inbound } from "../../connection.ts";
import { isJSONObject, isRequestId, type JSONRPCMessage, type RequestId } from "../../messages.ts";
import { scanFrame } from "./id_scanner.ts";
import { cleanLine, toFault } from "./line_fault.ts";
import { type LineSink, LineSplitter } from "./line_splitter.ts";
import { shortestOverDepth, textNestsDeeper, valueNestsDeeper } from "./nesting.ts";

/** Up to this length a text is parsed before its depth is looked at: a walk over values is cheaper than over text. */
const PARSE_FIRST_LENGTH = 1_048_576;

const BYTE_ORDER_MARK = 0xfeff;

const encoder = new TextEncoder();

/** What a {@linkcode MessageDecoder} is bound by. */
export interface DecoderLimits {
  readonly maxLineBytes: number;
  readonly maxNestingDepth: number;
}

/** Bytes to messages and faults: one batch for each chunk. */
export class MessageDecoder implements LineSink {
  readonly #maxDepth: number;
  readonly #shortestDeepText: number;
  readonly #splitter: LineSplitter;
  #batch: Inbound[] = [];

  constructor(limits: DecoderLimits) {
    this.#maxDepth = limits.maxNestingDepth;
    this.#shortestDeepText = shortestOverDepth(limits.maxNestingDepth);
    this.#splitter = new LineSplitter(limits.maxLineBytes, this);
  }

  /** Takes a chunk and gives what ended with it. */
  push(chunk: Uint8Array): Inbound[] {
    this.#splitter.push(chunk);
    return this.#takeBatch();
  }

  /** Tells that no more bytes come and gives the last fault, if there is one. */
  end(): Inbound[] {
    this.#splitter.end();
    return this.#takeBatch();
  }

  line(text: string): void {
    if (text.length === 0) return;
    const isLong = text.length > PARSE_FIRST_LENGTH;
    if (isLong && textNestsDeeper(text, this.#maxDepth)) {
      this.#tooDeep(text);
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      this.#carefulLine(text, error);
      return;
    }
    if (!isLong && text.length >= this.#shortestDeepText && valueNestsDeeper(value, this.#maxDepth)) {
      this.#tooDeep(text);
    } else {
      this.#value(value, text);
    }
  }

  fault(fault: Fault): void {
    this.#batch.push(fault);
  }

  #takeBatch(): Inbound[] {
    const batch = this.#batch;
    if (batch.length > 0) this.#batch = [];
    return batch;
  }

  /** A line that did not parse as it is: blank, with a byte order mark, or no JSON. */
  #carefulLine(text: string, error: unknown): void {
    const line = cleanLine(text);
    if (line === undefined) return;
    let problem = error;
    if (text.charCodeAt(0) === BYTE_ORDER_MARK) {
      try {
        const value: unknown = JSON.parse(line);
        if (valueNestsDeeper(value, this.#maxDepth)) this.#tooDeep(text);
        else this.#value(value, text);
        return;
      } catch (error) {
        problem = error;
      }
    }
    const bytes = encoder.encode(text);
    this.fault(toFault("invalid_json", describeSyntaxError(problem), scanFrame(bytes), bytes));
  }

  #value(value: unknown, text: string): void {
    const wrong = whatIsWrong(value);
    if (wrong !== undefined) {
      this.fault(this.#noMessage(value, wrong, text));
      return;
    }
    const message = value as JSONRPCMessage & { id?: RequestId | null };
    if (message.id === null) delete message.id;
    const idText = isUnsafeInteger(message.id) ? scanFrame(encoder.encode(text)).idText : undefined;
    this.#batch.push({ kind: "message", message, idText });
  }

  #noMessage(value: unknown, detail: string, text: string): Fault {
    const bytes = encoder.encode(text);
    const scanned = isJSONObject(value)
      ? {
        id: isRequestId(value.id) ? value.id : undefined,
        idText: isUnsafeInteger(value.id) ? scanFrame(bytes).idText : undefined,
        hasMethod: value.method !== undefined,
        hasResult: value.result !== undefined || value.error !== undefined,
      }
      : { hasMethod: false, hasResult: false };
    const fault = toFault("invalid_message", detail, scanned, bytes);
    return Array.isArray(value) ? { ...fault, batch: value } : fault;
  }

  #tooDeep(text: string): void {
    const bytes = encoder.encode(text);
    const detail = `the line nests deeper than ${this.#maxDepth} levels`;
    this.fault(toFault("invalid_json", detail, scanFrame(bytes), bytes));
  }
}

/** Says what keeps a value from being a JSON-RPC message of MCP, or undefined if nothing does. */
export function whatIsWrong(value: unknown): string | undefined {
  if (!isJSONObject(value)) return Array.isArray(value) ? "a batch is not a message" : "not a JSON object";
  if (value.jsonrpc !== "2.0") return `the member "jsonrpc" is not "2.0"`;
  const { id, method } = value;
  if (method !== undefined) {
    if (typeof method !== "string") return `the member "method" is not a string`;
    if (id !== undefined && !isRequestId(id)) return `the member "id" is neither a string nor an integer`;
    if (value.params !== undefined && !isJSONObject(value.params)) {
      return `the member "params" is not an object`;
    }
    if (value.result !== undefined || value.error !== undefined) {
      return `a "method" stands beside a "result" or an "error"`;
    }
    return undefined;
  }
  const hasError = value.error !== undefined;
  if (value.result === undefined && !hasError) return `neither "method", "result" nor "error" is there`;
  if (value.result !== undefined && hasError) return `both "result" and "error" are there`;
  if (!isRequestId(id) && !(hasError && (id === undefined || id === null))) {
    return `the member "id" is neither a string nor an integer`;
  }
  return hasError ? whatIsWrongWithError(value.error) : whatIsWrongWithResult(value.result);
}

function whatIsWrongWithResult(result: unknown): string | undefined {
  return isJSONObject(result) ? undefined : `the member "result" is not an object`;
}

function whatIsWrongWithError(error: unknown): string | undefined {
  if (!isJSONObject(error)) return `the member "error" is not an object`;
  if (!Number.isInteger(error.code)) return `the error's "code" is not an integer`;
  return typeof error.message === "string" ? undefined : `the error's "message" is not a string`;
}

function isUnsafeInteger(id: unknown): boolean {
  return typeof id === "number" && !Number.isSafeInteger(id);
}

/** The runtimes' own texts quote the line, so only the place is taken from them. */
function describeSyntaxError(error: unknown): string {
  const place = / in JSON at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(
    error instanceof Error ? error.message : "",
  )?.[1];
  return place === undefined
    ? "the line is not valid JSON"
    : `the line is not valid JSON at character ${place}`;
}
