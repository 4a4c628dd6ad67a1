/**
 * Bytes to messages and back, as `TransformStream`s that can be put into any pipe: one JSON-RPC message per line of
 * UTF-8, ended by LF. A line that is no message becomes a fault, a value in the stream; the lines around it are unharmed,
 * and the stream goes on.
 *
 * @example Read messages, with a fault between them
 * ```ts
 * import { type Inbound, MessageDecoderStream } from "@mcp/stdio/framing";
 * import assert from "node:assert/strict";
 *
 * const bytes = new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"ping"}\nServer started\n');
 * const readable = ReadableStream.from([bytes]).pipeThrough(new MessageDecoderStream());
 * const inbound: Inbound[] = [];
 * for await (const value of readable) inbound.push(value);
 *
 * assert.deepEqual(inbound.map(({ kind }) => kind), ["message", "fault"]);
 * ```
 *
 * @module
 */

import type { Fault, FaultReason, Inbound, ReceivedMessage } from "./connection.ts";
import { stderrLogger } from "./logger.ts";
import type { JSONRPCMessage } from "./messages.ts";
import { cleanLine } from "./internal/framing/line_fault.ts";
import { type LineSink, LineSplitter } from "./internal/framing/line_splitter.ts";
import { MessageDecoder } from "./internal/framing/message_decoder.ts";
import { encodeMessage } from "./internal/framing/message_encoder.ts";
import { resolveFramingLimits } from "./internal/options.ts";
import { callGuarded } from "./internal/thrown.ts";

export type { Fault, FaultReason, Inbound, ReceivedMessage };

/** A line of text, without its line feed, one trailing CR, and one leading byte order mark. */
export interface TextLine {
  /** Tells a line from a fault. */
  readonly kind: "line";
  /** The line. */
  readonly text: string;
}

/** A line that is no text: too long, not UTF-8, or cut by the end of the input. */
export type LineFault = Fault;

/** What a {@linkcode LineDecoderStream} yields. */
export type Line = TextLine | LineFault;

/** Options for {@linkcode LineDecoderStream} and {@linkcode MessageEncoderStream}. */
export interface FramingOptions {
  /**
   * The longest line in bytes; CR LF is not counted. A longer one that is read becomes a fault, one that is to be
   * written is refused.
   *
   * @default {16_777_216}
   */
  maxLineBytes?: number | undefined;
  /**
   * How many bytes the stream takes from its source, or makes ready, before it waits for its reader.
   *
   * @default {65_536}
   */
  readBufferBytes?: number | undefined;
}

/** Options for {@linkcode MessageDecoderStream}. */
export interface MessageDecoderOptions extends FramingOptions {
  /**
   * The deepest nesting of arrays and objects; a line that nests deeper becomes a fault.
   *
   * @default {512}
   */
  maxNestingDepth?: number | undefined;
}

/**
 * Bytes to lines. Only LF ends a line; blank lines are skipped; a line over the limit is
 * dropped as it comes, in bounded memory, and the next one is whole.
 *
 * @example
 * ```ts
 * import { LineDecoderStream } from "@mcp/stdio/framing";
 * import assert from "node:assert/strict";
 *
 * const bytes = new TextEncoder().encode("one\r\n\ntwo\n");
 * const lines: string[] = [];
 * for await (const line of ReadableStream.from([bytes]).pipeThrough(new LineDecoderStream())) {
 *   if (line.kind === "line") lines.push(line.text);
 * }
 * assert.deepEqual(lines, ["one", "two"]);
 * ```
 */
export class LineDecoderStream extends TransformStream<Uint8Array, Line> {
  /**
   * Makes one.
   *
   * @throws {RangeError} If a limit is not a positive integer in its range.
   */
  constructor(options: FramingOptions = {}) {
    const { maxLineBytes, readBufferBytes } = resolveFramingLimits(options);
    let splitter: LineSplitter;
    super(
      {
        start(controller): void {
          splitter = new LineSplitter(maxLineBytes, toLineSink(controller));
        },
        transform: (chunk) => splitter.push(chunk),
        flush: () => splitter.end(),
      },
      { highWaterMark: readBufferBytes, size: byteLengthOf },
    );
  }
}

/**
 * Bytes to messages. What is no JSON-RPC message becomes a fault that carries the id of the
 * line when one can be found.
 *
 * @example
 * ```ts
 * import { MessageDecoderStream } from "@mcp/stdio/framing";
 * import assert from "node:assert/strict";
 *
 * const bytes = new TextEncoder().encode('{"jsonrpc":"2.0","id":7,"method":5}\n');
 * for await (const inbound of ReadableStream.from([bytes]).pipeThrough(new MessageDecoderStream())) {
 *   assert.ok(inbound.kind === "fault" && inbound.reason === "invalid_message" && inbound.id === 7);
 * }
 * ```
 */
export class MessageDecoderStream extends TransformStream<Uint8Array, Inbound> {
  /**
   * Makes one.
   *
   * @throws {RangeError} If a limit is not a positive integer in its range.
   */
  constructor(options: MessageDecoderOptions = {}) {
    const { maxLineBytes, readBufferBytes, maxNestingDepth } = resolveFramingLimits(options);
    const decoder = new MessageDecoder({ maxLineBytes, maxNestingDepth });
    super(
      {
        transform(chunk, controller): void {
          for (const inbound of decoder.push(chunk)) controller.enqueue(inbound);
        },
        flush(controller): void {
          for (const inbound of decoder.end()) controller.enqueue(inbound);
        },
      },
      { highWaterMark: readBufferBytes, size: byteLengthOf },
    );
  }
}

/** Options for {@linkcode MessageEncoderStream}. */
export interface MessageEncoderOptions extends FramingOptions {
  /**
   * Takes the error for a message that cannot be written; the stream goes on without it.
   *
   * @default {a warning on stderr}
   */
  onError?: ((error: Error, message: JSONRPCMessage) => void) | undefined;
}

/**
 * Messages to bytes: compact JSON and one LF. A message that cannot be written is handed to `onError`
 * with the reason, and the stream goes on.
 *
 * @example
 * ```ts
 * import { MessageEncoderStream } from "@mcp/stdio/framing";
 * import assert from "node:assert/strict";
 *
 * const source = ReadableStream.from([{ jsonrpc: "2.0" as const, id: 0, method: "ping" }]);
 * let text = "";
 * for await (const bytes of source.pipeThrough(new MessageEncoderStream())) text += new TextDecoder().decode(bytes);
 * assert.equal(text, '{"jsonrpc":"2.0","id":0,"method":"ping"}\n');
 * ```
 */
export class MessageEncoderStream extends TransformStream<JSONRPCMessage, Uint8Array> {
  /**
   * Makes one.
   *
   * @throws {RangeError} If a limit is not a positive integer in its range.
   */
  constructor(options: MessageEncoderOptions = {}) {
    const { maxLineBytes, readBufferBytes } = resolveFramingLimits(options);
    const { onError = warn } = options;
    super(
      {
        transform(message, controller): void {
          try {
            controller.enqueue(withLineFeed(encodeMessage(message, maxLineBytes)));
          } catch (error) {
            // A callback that throws changes nothing: the stream goes on.
            callGuarded(
              () => onError(error as Error, message),
              (thrown) => stderrLogger.error("[mcp_stdio] onError has thrown", { error: thrown }),
            );
          }
        },
      },
      undefined,
      { highWaterMark: readBufferBytes, size: byteLengthOf },
    );
  }
}

function warn(error: Error): void {
  stderrLogger.warn(`[mcp_stdio] ${error.message}`);
}

function toLineSink(controller: TransformStreamDefaultController<Line>): LineSink {
  return {
    line(text: string): void {
      const line = cleanLine(text);
      if (line !== undefined) controller.enqueue({ kind: "line", text: line });
    },
    fault(fault: Fault): void {
      controller.enqueue(fault);
    },
  };
}

function withLineFeed(frame: string | Uint8Array): Uint8Array {
  return typeof frame === "string" ? new TextEncoder().encode(`${frame}\n`) : frame;
}

function byteLengthOf(chunk: Uint8Array): number {
  return chunk.length;
}
