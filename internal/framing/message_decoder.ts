import type { Fault, Inbound } from "../../connection.ts";
import { isJSONObject, type JSONRPCMessage, type Params, type RequestId } from "../../messages.ts";
import type { FrameTrace } from "./frame_trace.ts";
import { scanFrame } from "./id_scanner.ts";
import { elementsOf, sourceAt, type Span } from "./json_source.ts";
import { cleanLine, hasMarks, previewOf, toFault, toUnreadable } from "./line_fault.ts";
import { type LineSink, LineSplitter } from "./line_splitter.ts";
import {
  ID_IS_TOO_LONG,
  isUsableId,
  MAX_ID_BYTES,
  shortestOverDepth,
  textNestsDeeper,
  valueNestsDeeper,
  whatIsWrong,
} from "./message_rules.ts";

/** Up to this length a text is parsed before its depth is looked at: a walk over values is cheaper than over text. */
const PARSE_FIRST_LENGTH = 1_048_576;

/** A longer batch is no batch but one bad line, so that no line makes more answers than that. */
const MAX_BATCH_MEMBERS = 1_000;

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
  readonly #trace: FrameTrace | undefined;
  #batch: Inbound[] = [];

  constructor(limits: DecoderLimits, trace?: FrameTrace) {
    this.#trace = trace;
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
    const first = text.charCodeAt(0);
    if (first !== OPEN_BRACE && isNoJSON(first)) {
      this.#carefulLine(text, undefined);
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
    this.#trace?.received(fault, fault.byteLength);
  }

  #takeBatch(): Inbound[] {
    const batch = this.#batch;
    if (batch.length > 0) this.#batch = [];
    return batch;
  }

  /** A line that did not parse as it is: blank, with marks at its start, or no JSON. */
  #carefulLine(text: string, error: unknown): void {
    const line = cleanLine(text);
    if (line === undefined) return;
    let problem = error;
    if (hasMarks(text)) {
      try {
        const value: unknown = JSON.parse(line);
        if (valueNestsDeeper(value, this.#maxDepth)) this.#tooDeep(text);
        else this.#value(value, text);
        return;
      } catch (error) {
        problem = error;
      }
    }
    this.fault(toUnreadable("invalid_json", describeSyntaxError(problem), encoder.encode(text)));
  }

  #value(value: unknown, text: string): void {
    const inbound = Array.isArray(value) ? toBatch(value, text) : judge(value, text);
    this.#batch.push(inbound);
    if (this.#trace !== undefined) this.#trace.received(inbound, encoder.encode(text).length);
  }

  #tooDeep(text: string): void {
    const bytes = encoder.encode(text);
    const detail = `the line nests deeper than ${this.#maxDepth} levels`;
    this.fault(toFault("invalid_json", detail, scanFrame(bytes), bytes));
  }
}

const OPEN_BRACE = 0x7b;

/** Whether a line that begins with this is surely none: a parser's error takes as long as a hundred lines that are none. */
function isNoJSON(first: number): boolean {
  const letter = first | 0x20;
  return letter >= 0x61 && letter <= 0x7a && letter !== 0x74 && letter !== 0x66 && letter !== 0x6e;
}

/** Judges what was parsed from a line: a message, or a fault. */
function judge(value: unknown, text: string): Inbound {
  const wrong = whatIsWrong(value);
  if (wrong !== undefined) return toInvalid(value, wrong, wireIdOf(value, text), measure(text));
  const message = value as ParsedMessage;
  return isPlain(message) ? { kind: "message", message, idText: undefined } : toReceived(message, text);
}

/** A message as it is parsed: what must be absent may still be null. */
type ParsedMessage = JSONRPCMessage & { id?: RequestId | null; params?: Params | null };

/** Whether nothing of the message needs its text again. The common case, so it is decided quickly. */
function isPlain({ id, params }: ParsedMessage): boolean {
  if (id === null || params === null || isUnsafeInteger(id)) return false;
  const meta = params?._meta as { progressToken?: unknown } | undefined | null;
  return !isUnsafeInteger(meta?.progressToken);
}

function toReceived(message: ParsedMessage, text: string, part?: Span, size?: LineSize): Inbound {
  if (message.id === null) delete message.id;
  if (message.params === null) delete message.params;
  const { id, idText } = wireIdOf(message, text, part);
  if (id !== message.id) return toInvalid(message, ID_IS_TOO_LONG, {}, size ?? measure(text));
  const meta = message.params?._meta as { progressToken?: unknown } | undefined | null;
  if (!isUnsafeInteger(meta?.progressToken)) return { kind: "message", message, idText };
  const progressTokenText = sourceAt(lineOf(text), ["params", "_meta", "progressToken"], part);
  return { kind: "message", message, idText, progressTokenText };
}

/** An array is no message, but revision 2025-03-26 has lines of several; each member is judged as a line of its own. */
function toBatch(values: readonly unknown[], text: string): Fault {
  const size = measure(text);
  const fault = (detail: string) => toInvalid(undefined, detail, {}, size);
  if (values.length === 0) return fault("an empty batch is not a message");
  if (values.length > MAX_BATCH_MEMBERS) return fault(`a batch has more than ${MAX_BATCH_MEMBERS} members`);
  const line = lineOf(text);
  let parts: Span[] | undefined;
  const batch = values.map((value, index) => {
    const wrong = whatIsWrong(value);
    const message = value as ParsedMessage;
    if (wrong === undefined && isPlain(message)) return { kind: "message" as const, message };
    parts ??= elementsOf(line);
    if (wrong === undefined) return toReceived(message, line, parts[index], size);
    return toInvalid(value, wrong, wireIdOf(value, line, parts[index]), size);
  });
  return { ...fault("a batch is not a message"), batch };
}

/** A value's id as far as an answer can repeat it. */
interface WireId {
  readonly id?: RequestId | undefined;
  readonly idText?: string | undefined;
}

function wireIdOf(value: unknown, text: string, part?: Span): WireId {
  const id = isJSONObject(value) ? value.id : undefined;
  if (!isUsableId(id)) return {};
  if (!isUnsafeInteger(id)) return { id };
  const idText = sourceAt(lineOf(text), ["id"], part);
  return idText === undefined || idText.length > MAX_ID_BYTES ? {} : { id, idText };
}

function lineOf(text: string): string {
  return cleanLine(text) ?? text;
}

type LineSize = Pick<Fault, "byteLength" | "preview">;

function measure(text: string): LineSize {
  const bytes = encoder.encode(text);
  return { byteLength: bytes.length, preview: previewOf(bytes) };
}

function toInvalid(
  value: unknown,
  detail: string,
  { id, idText }: WireId,
  size: LineSize,
): Fault {
  const members = isJSONObject(value) ? value : {};
  return {
    kind: "fault",
    reason: "invalid_message",
    detail,
    id,
    idText,
    hasId: members.id !== undefined,
    hasMethod: members.method !== undefined,
    hasResult: members.result !== undefined || members.error !== undefined,
    ...size,
  };
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
