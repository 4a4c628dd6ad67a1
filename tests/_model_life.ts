/** One life of a server in the model: its two pipes, with a tap that writes down every line that passes. */

import { whatIsWrong } from "../internal/framing/message_rules.ts";
import type { ByteStreams } from "../runtime.ts";
import type { Inhabitant } from "./_model_schedule.ts";

/** A message as the tap sees it. */
export interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown } | undefined;
  readonly result?: { readonly [key: string]: unknown } | undefined;
  readonly error?: { readonly code: number; readonly message: string } | undefined;
}

/** A line that has passed. */
export interface Seen {
  /** The step in which it did. */
  readonly step: number;
  readonly text: string;
  readonly messages: readonly Message[];
  /** What keeps it from being a message. */
  readonly wrong: string | undefined;
}

const encoder = new TextEncoder();

/** The pipes of a server with a tap. */
export class Life {
  readonly index: number;
  readonly inhabitant: Inhabitant;
  /** The lines that have begun to leave the client. */
  readonly sent: Seen[] = [];
  /** The lines that the server has read. */
  readonly read: Seen[] = [];
  /** The lines that the server itself has written. */
  readonly written: Seen[] = [];
  /** What the server has to do with. */
  readonly streams: ByteStreams;
  /** Whether something else was written between its lines, or it was cut off: what the client makes of it is no longer told. */
  isDisturbed = false;
  /** Whether nobody reads any more what the server writes. */
  isOutputLost = false;
  /** How the server's `run` has ended. */
  end: string | undefined;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #stepOf: () => number;
  readonly #sentSoFar = { rest: "" };
  readonly #readSoFar = { rest: "" };
  readonly #writtenSoFar = { rest: "" };
  #gate: Gate | undefined;
  #outputGate: Gate | undefined;

  constructor(raw: ByteStreams, index: number, inhabitant: Inhabitant, stepOf: () => number) {
    this.index = index;
    this.inhabitant = inhabitant;
    this.#stepOf = stepOf;
    this.#writer = raw.writable.getWriter();
    this.#writer.closed.catch(() => {}); // Whoever writes hears of it.
    const reader = raw.readable.getReader();
    this.streams = {
      readable: new ReadableStream<Uint8Array>({
        pull: async (controller) => {
          await this.#gate?.opened;
          const { done, value } = await reader.read();
          if (done) return controller.close();
          this.#note(value, this.#readSoFar, this.read);
          controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      }, { highWaterMark: 0 }),
      writable: new WritableStream<Uint8Array>({
        write: async (chunk) => {
          this.#note(chunk, this.#writtenSoFar, this.written);
          await this.#outputGate?.opened;
          await this.#writer.write(chunk).catch((error) => {
            this.isOutputLost = true;
            throw error;
          });
        },
        close: () => this.#writer.close(),
        abort: (reason) => {
          this.isOutputLost = true;
          return this.#writer.abort(reason);
        },
      }),
    };
  }

  /** A tap on what the client writes, when it begins to. */
  tapClient(writable: WritableStream<Uint8Array>): WritableStream<Uint8Array> {
    const writer = writable.getWriter();
    writer.closed.catch(() => {}); // Whoever writes hears of it.
    return new WritableStream<Uint8Array>({
      write: (chunk) => {
        this.#note(chunk, this.#sentSoFar, this.sent);
        return writer.write(chunk);
      },
      close: () => writer.close(),
      abort: (reason) => writer.abort(reason),
    });
  }

  /** The server's own pipe, for what is not written by its connection. */
  inject(bytes: string | Uint8Array): void {
    writeQuietly(this.#writer, bytes);
  }

  /** Reads no more until {@linkcode Life.resume}. */
  pause(): void {
    this.#gate ??= makeGate();
  }

  /** Lets no write of the server end, as if nobody read what it writes, until {@linkcode Life.resume}. */
  hold(): void {
    this.#outputGate ??= makeGate();
  }

  resume(): void {
    this.#gate?.open();
    this.#outputGate?.open();
    this.#gate = this.#outputGate = undefined;
  }

  #note(chunk: Uint8Array, soFar: { rest: string }, lines: Seen[]): void {
    const texts = (soFar.rest + new TextDecoder().decode(chunk)).split("\n");
    soFar.rest = texts.pop()!;
    for (const text of texts) lines.push(see(text, this.#stepOf()));
  }
}

/** Writes to whoever may have gone. */
export function writeQuietly(
  writer: WritableStreamDefaultWriter<Uint8Array>,
  bytes: string | Uint8Array,
): void {
  try {
    writer.write(typeof bytes === "string" ? encoder.encode(bytes) : bytes).catch(() => {}); // It has ended.
  } catch {
    // Node 20 throws for a stream that was closed.
  }
}

interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

function makeGate(): Gate {
  let open!: () => void;
  return { opened: new Promise<void>((resolve) => open = resolve), open };
}

function see(text: string, step: number): Seen {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { step, text, messages: [], wrong: "no JSON" };
  }
  const values = Array.isArray(value) ? value : [value];
  const wrong = values.map((each) => whatIsWrong(each)).find((each) => each !== undefined);
  return { step, text, messages: values as Message[], wrong };
}
