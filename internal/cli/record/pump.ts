/** One direction through the recorder. Bytes are handed on before they are looked at, one read for each write. */

import type { ByteInput, ByteOutput } from "../../runtime/byte_channel.ts";

/** What is told of a direction. */
export interface PumpEvents {
  /** Bytes are on their way. */
  readonly onBytes: (bytes: Uint8Array) => void;
  /** Nothing comes any more. */
  readonly onEnd: () => void;
  /** Nobody takes it any more. */
  readonly onRefused: () => void;
}

/** The output of a pump, and how its end is told. */
export interface PumpOutput {
  readonly output: ByteOutput;
  readonly close: () => Promise<void>;
}

/**
 * Hands on all that comes, as fast as it is taken. When nothing comes any more the other end is told, and when nobody takes
 * it any more whoever sends is.
 */
export class Pump {
  readonly #input: ByteInput;
  readonly #output: PumpOutput;
  readonly #events: PumpEvents;
  #state: "reading" | "writing" | "over" = "reading";
  #reads = 0;

  constructor(input: ByteInput, output: PumpOutput, events: PumpEvents) {
    this.#input = input;
    this.#output = output;
    this.#events = events;
  }

  /** Whether what has come is still to be taken. */
  get isWriting(): boolean {
    return this.#state === "writing";
  }

  /** How many times something has come. */
  get reads(): number {
    return this.#reads;
  }

  /** Resolves when it is over; never rejects. */
  async run(): Promise<void> {
    const { output, close } = this.#output;
    for (;;) {
      const bytes = await this.#input.read().catch(() => undefined); // An input that fails is at its end.
      if (bytes === undefined) break;
      this.#reads++;
      this.#state = "writing";
      const written = output.write(bytes);
      // It is awaited below; meanwhile its rejection must not count as one that nobody observes.
      written?.catch(() => {});
      this.#events.onBytes(bytes);
      try {
        await written;
      } catch {
        this.#state = "over";
        this.#events.onRefused();
        await this.#input.cancel().catch(() => {}); // It is given up either way.
        return;
      }
      this.#state = "reading";
    }
    this.#state = "over";
    this.#events.onEnd();
    await close().catch(() => {}); // Who is gone need not be told.
  }
}
