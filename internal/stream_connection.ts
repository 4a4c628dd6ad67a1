import type { ConnectionEnd, Inbound, Outgoing } from "../connection.ts";
import { type CloseReason, ConnectionClosedError } from "../errors.ts";
import type { JSONRPCMessage } from "../messages.ts";
import type { ByteStreams } from "../runtime.ts";
import { delay, systemClock } from "./clock.ts";
import { createDeferred } from "./promises.ts";
import type { FrameTrace } from "./framing/frame_trace.ts";
import { WriteBuffer } from "./framing/write_buffer.ts";
import { MessageDecoder } from "./framing/message_decoder.ts";
import { encodeMessage, type Ending, type EndingConnection } from "./framing/message_encoder.ts";
import { type ByteInput, type ByteOutput, openChannel } from "./runtime/byte_channel.ts";

/** What a {@linkcode StreamConnection} is bound by; all of it is required. */
export interface ConnectionSettings {
  /** The longest line read or written, in bytes, without CR LF. */
  readonly maxLineBytes: number;
  /** The deepest nesting read. */
  readonly maxNestingDepth: number;
  /** As many bytes are decoded and handed on at a time; a line may be longer. */
  readonly readBufferBytes: number;
  /** Above this much waiting output the connection is full, in bytes. */
  readonly maxQueuedBytes: number;
  /** Told of each frame that passes. */
  readonly trace?: FrameTrace | undefined;
}

/** As much output as goes into one write. */
const MAX_BATCH_BYTES = 1_048_576;

/**
 * A readable and a writable made into a connection. Input is read when asked for; output is written in batches. What
 * happens to one direction does not touch the other: the owner decides.
 */
export class StreamConnection implements EndingConnection {
  readonly #input: ByteInput;
  readonly #output: ByteOutput;
  readonly #decoder: MessageDecoder;
  readonly #buffer: WriteBuffer;
  readonly #trace: FrameTrace | undefined;
  readonly #maxLineBytes: number;
  readonly #readBufferBytes: number;
  /** What was read and is not yet decoded. */
  #unread: Uint8Array | undefined;
  readonly #closed = createDeferred<ConnectionEnd>();
  readonly closed: Promise<ConnectionEnd> = this.#closed.promise;
  readonly #firstInput = createDeferred();
  #end: ConnectionEnd | undefined;
  #closing: Promise<void> | undefined;
  #endingOutput: Promise<void> | undefined;
  #inputEnded = false;
  #inputCancelled = false;
  #inputError: unknown;
  #waitingForInput = false;
  #bytesRead = 0;
  /** Whether the other side writes line after line that are no messages: then the rest of this process has its turns in between. */
  #isFlooded = false;

  constructor(streams: ByteStreams, settings: ConnectionSettings) {
    const { input, output } = openChannel(streams);
    this.#input = input;
    this.#output = output;
    this.#trace = settings.trace;
    this.#decoder = new MessageDecoder(settings, settings.trace);
    this.#maxLineBytes = settings.maxLineBytes;
    this.#readBufferBytes = settings.readBufferBytes;
    this.#buffer = new WriteBuffer(
      (bytes) => this.#write(bytes),
      { highWaterBytes: settings.maxQueuedBytes, maxBatchBytes: MAX_BATCH_BYTES },
      () => closedError("local", "the message was withdrawn", false),
    );
    this.#output.failed?.catch((error) => this.#outputFailed(error));
  }

  /** Resolves with the first bytes that were read. */
  get firstInput(): Promise<void> {
    return this.#firstInput.promise;
  }

  /** How many bytes were read. */
  get bytesRead(): number {
    return this.#bytesRead;
  }

  get inputError(): unknown {
    return this.#inputError;
  }

  get full(): boolean {
    return this.#buffer.full;
  }

  get queuedBytes(): number {
    return this.#buffer.size;
  }

  async receive(): Promise<readonly Inbound[] | undefined> {
    if (this.#waitingForInput) throw new TypeError("Cannot receive: another call is waiting");
    this.#waitingForInput = true;
    try {
      while (!this.#inputEnded) {
        if (this.#isFlooded) await delay(systemClock, 0); // Timers and everybody else's streams have their turn.
        const bytes = this.#unread ?? this.#count(await this.#input.read());
        const batch = bytes === undefined ? this.#endInput() : this.#decode(bytes);
        this.#isFlooded = batch.length >= MANY_FAULTS && isMostlyFaults(batch);
        if (batch.length > 0) return batch;
      }
    } catch (error) {
      this.#inputEnded = true;
      this.#inputError = error;
    } finally {
      this.#waitingForInput = false;
    }
    return undefined;
  }

  send(message: JSONRPCMessage | readonly JSONRPCMessage[]): Outgoing {
    return this.sendEndingIn(message, undefined);
  }

  /** Sends a message with members at its end that are text already; see {@linkcode Ending}. */
  sendEndingIn(message: JSONRPCMessage | readonly JSONRPCMessage[], ending: Ending | undefined): Outgoing {
    if (this.#end !== undefined || this.#endingOutput !== undefined) {
      throw closedError(this.#end?.kind ?? "local", "the connection is closed", false);
    }
    const frame = encodeMessage(message, this.#maxLineBytes, ending);
    const trace = this.#trace;
    if (trace === undefined) return this.#buffer.enqueue(frame);
    return this.#buffer.enqueue(frame, trace.queued(message, lengthOf(frame)));
  }

  drained(): Promise<void> {
    return this.#buffer.drained();
  }

  flushed(): Promise<void> {
    return this.#buffer.flushed();
  }

  cancelInput(reason?: unknown): void {
    this.#inputCancelled = true;
    this.#unread = undefined;
    // In braces: a value with a `then` that throws, given on, would be a rejection that nobody observes.
    this.#input.cancel(reason).catch((error) => {
      this.#inputError ??= error;
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.endOutput().then(() => this.cancelInput());
    return this.#closing;
  }

  /** Flushes what is queued, then ends the output; the input goes on. Safe to call more than once. */
  endOutput(): Promise<void> {
    this.#endingOutput ??= this.#endOutput();
    return this.#endingOutput;
  }

  abort(reason?: unknown): void {
    this.#settle({ kind: "local" }, reason);
    this.cancelInput(reason);
    // The stream may wait for a write that never ends; nobody waits for it.
    this.#output.abort(reason).catch(() => {});
  }

  #count(bytes: Uint8Array | undefined): Uint8Array | undefined {
    if (this.#bytesRead === 0 && bytes !== undefined) this.#firstInput.resolve();
    this.#bytesRead += bytes?.length ?? 0;
    return bytes;
  }

  #decode(bytes: Uint8Array): Inbound[] {
    const size = this.#isFlooded ? Math.min(FLOOD_BYTES, this.#readBufferBytes) : this.#readBufferBytes;
    if (bytes.length <= size) {
      this.#unread = undefined;
      return this.#decoder.push(bytes);
    }
    this.#unread = bytes.subarray(size);
    return this.#decoder.push(bytes.subarray(0, size));
  }

  #write(bytes: Uint8Array): Promise<void> | undefined {
    return this.#output.write(bytes)?.catch(this.#writeFailed);
  }

  readonly #writeFailed = (error: unknown): never => {
    this.#outputFailed(error);
    throw error;
  };

  async #endOutput(): Promise<void> {
    await this.#buffer.flushed();
    if (this.#end !== undefined) return;
    try {
      await this.#output.close();
    } catch (error) {
      this.#outputFailed(error);
    }
    this.#settle({ kind: "local" });
  }

  #endInput(): Inbound[] {
    this.#inputEnded = true;
    // What had come of a line when the input was cancelled was not cut off by the other side.
    return this.#inputCancelled ? [] : this.#decoder.end();
  }

  #outputFailed(error: unknown): void {
    this.#settle({ kind: "output_failed", error }, error);
  }

  #settle(end: ConnectionEnd, cause?: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    const toError = (sent: boolean) => closedError(end.kind, "the connection ended first", sent, cause);
    this.#buffer.fail(toError(false), toError(true));
    this.#closed.resolve(end);
  }
}

/** So many bad lines in one go are a flood. */
const MANY_FAULTS = 500;
/** As much of a flood is read in one turn. */
const FLOOD_BYTES = 16_384;

function isMostlyFaults(batch: readonly Inbound[]): boolean {
  let faults = 0;
  for (const { kind } of batch) if (kind === "fault") faults++;
  return 2 * faults > batch.length;
}

/** The length of a frame in bytes, without its line feed. */
function lengthOf(frame: string | Uint8Array): number {
  return typeof frame === "string" ? new TextEncoder().encode(frame).length : frame.length - 1;
}

function closedError(
  reason: CloseReason,
  state: string,
  sent: boolean,
  cause?: unknown,
): ConnectionClosedError {
  return new ConnectionClosedError(`Cannot send the message: ${state}`, { reason, sent }, { cause });
}
