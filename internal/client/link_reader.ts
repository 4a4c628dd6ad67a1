import type { Inbound } from "../../connection.ts";
import type { Clock } from "../../runtime.ts";
import { settlesWithin } from "../clock.ts";
import { createDeferred } from "../promises.ts";
import { textOfThrown } from "../thrown.ts";
import { type Departure, describeEnd } from "./exit_words.ts";
import type { Link } from "./link.ts";

/** So long, after a server's output has ended, its exit and its last words are awaited so that errors can tell them. */
const EXPLANATION_MS = 200;
/** A server that has exited, or takes no input, is looked at so often. */
const LOOK_MS = 50;
/** So many looks in a row without a byte: whoever still holds the pipe has nothing to say. */
const QUIET_LOOKS = 4;
/** So many looks at most: a stranger that goes on writing is not listened to for ever. */
const MOST_LOOKS = 40;

/** Where a link's frames go, and who is told of its end. */
export interface LinkReaderPort {
  /** Takes one frame. Gives a promise if the next one has to wait. */
  route(inbound: Inbound, link: Link): Promise<void> | undefined;
  /** Nothing more will come from the link. */
  fellSilent(link: Link): void;
  /** The link is at its end, and what can be known of it is known; `departure` is the first cause. */
  ended(link: Link, departure: Departure): void;
}

/** Reads one link to its end, frame by frame in wire order (rules C2, C7). */
export class LinkReader {
  readonly #link: Link;
  readonly #port: LinkReaderPort;
  readonly #clock: Clock;
  readonly #over = createDeferred();
  #batches = 0;
  #isWaiting = false;
  #isHearingOut = false;
  /** How the server went, if it was not heard to the end. */
  #departure: Departure | undefined;

  constructor(link: Link, port: LinkReaderPort, clock: Clock) {
    this.#link = link;
    this.#port = port;
    this.#clock = clock;
  }

  /** Reads to the end; never rejects. */
  async run(): Promise<void> {
    const { connection, exited, explained } = this.#link;
    connection.closed.then(({ kind }) => {
      if (kind === "output_failed") this.#hearOut();
    });
    exited.then(() => this.#hearOut());
    for (;;) {
      this.#isWaiting = true;
      let batch: readonly Inbound[] | undefined;
      try {
        batch = await connection.receive();
      } catch (error) {
        // A connection of somebody's own may reject, as one does that somebody else is reading.
        const words = `an output that cannot be read: ${textOfThrown(error)}`;
        this.#departure = { reason: "input_failed", words };
      }
      this.#isWaiting = false;
      if (batch === undefined) break;
      this.#batches++;
      for (const inbound of batch) {
        const wait = this.#port.route(inbound, this.#link);
        // One that never comes holds nobody up: the link is ended without its reader.
        if (wait !== undefined) await wait;
      }
    }
    this.#over.resolve();
    this.#port.fellSilent(this.#link);
    await settlesWithin(this.#clock, explained, EXPLANATION_MS);
    this.#port.ended(this.#link, this.#departure ?? describeEnd(this.#link));
  }

  /**
   * A server that has exited, or takes no more input, will not be asked anything; but what it has written counts. It is read
   * as long as something comes, whoever else holds the pipe.
   */
  async #hearOut(): Promise<void> {
    if (this.#isHearingOut) return;
    this.#isHearingOut = true;
    const isOver = Promise.race([this.#over.promise, this.#link.gone]);
    let quiet = 0;
    for (let looks = 0; looks < MOST_LOOKS && quiet < QUIET_LOOKS;) {
      const before = this.#activity;
      if (await settlesWithin(this.#clock, isOver, LOOK_MS)) return;
      // A reader that is busy with what it got has not come to the rest yet.
      if (!this.#isWaiting) continue;
      looks++;
      quiet = this.#activity === before ? quiet + 1 : 0;
    }
    // A server that writes on dies of this, and that would be taken for the cause.
    this.#departure = describeEnd(this.#link);
    this.#link.connection.cancelInput();
  }

  get #activity(): number {
    return this.#batches + this.#link.bytesRead;
  }
}
