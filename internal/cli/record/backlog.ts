/**
 * What has passed and is not looked at yet. To look at a message costs more than to hand it on, so that is done when the
 * session takes a breath: within milliseconds as a rule, and under load after a while, or when much has piled up.
 */

import type { Clock } from "../../../runtime.ts";
import type { Source } from "../recording/format.ts";
import type { Recorder, UntimedEvent } from "./recorder.ts";

/** Nothing has passed for so long: that is a breath. */
const QUIET_MS = 4;
/** Work is cut into pieces of this length, so that what comes meanwhile does not wait. */
const SLICE_MS = 5;
/** The oldest does not wait longer than this, load or no load. */
const LONGEST_MS = 10_000;
/** More than this is not kept: the session waits until less is left. */
const MOST_BYTES = 100_663_296;

/** Something that has passed or happened. */
type Entry =
  | { readonly at: number; readonly from: Source; readonly chunk: Uint8Array }
  | { readonly at: number; readonly ended: Source }
  | { readonly at: number; readonly event: UntimedEvent };

/** What a backlog needs. */
export interface BacklogSettings {
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly elapsedMs: () => number;
  /** Told of a fault of the recorder: it must not reach the session. */
  readonly onFailed: (error: unknown) => void;
  /** Whether what was made of entries is still to be taken by the file; resolves when some of it was. */
  readonly isFull: () => boolean;
  readonly hasRoom: () => Promise<void>;
}

/** What waits for the recorder, in order. */
export class Backlog {
  readonly #settings: BacklogSettings;
  #entries: Entry[] = [];
  /** How many of the entries are done with. */
  #done = 0;
  #bytes = 0;
  /** How many entries there have been, and how many when it was last looked. */
  #count = 0;
  #seen = 0;
  #timer: unknown;

  constructor(settings: BacklogSettings) {
    this.#settings = settings;
  }

  /** Bytes have passed. */
  take(from: Source, chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    this.#add({ at: this.#settings.elapsedMs(), from, chunk });
    while (this.#bytes > MOST_BYTES) this.#next();
  }

  /** Nothing more comes from there. */
  end(from: Source): void {
    this.#add({ at: this.#settings.elapsedMs(), ended: from });
  }

  /** Something has happened. */
  event(event: UntimedEvent): void {
    this.#add({ at: this.#settings.elapsedMs(), event });
  }

  /** Forgets what is left: there is nowhere to put it any more. */
  drop(): void {
    this.#settings.clock.clearTimeout(this.#timer);
    this.#entries = [];
    this.#done = 0;
  }

  /** Does all that is left, as fast as the file takes it. */
  async finish(): Promise<void> {
    const { clock, isFull, hasRoom } = this.#settings;
    clock.clearTimeout(this.#timer);
    while (this.#done < this.#entries.length) {
      if (isFull()) await hasRoom();
      this.#next();
    }
  }

  #add(entry: Entry): void {
    this.#entries.push(entry);
    this.#count++;
    this.#timer ??= this.#settings.clock.setTimeout(() => this.#look(), QUIET_MS);
  }

  /**
   * A process that was kept from running for a while looks first and reads then. So it is quiet only if nothing has come since
   * the last look, and what came before a look is read before the next one.
   */
  #look(): void {
    const now = this.#settings.elapsedMs();
    const oldest = this.#entries[this.#done];
    this.#timer = undefined;
    if (oldest === undefined) return;
    const isQuiet = this.#seen === this.#count;
    this.#seen = this.#count;
    // What a slow file has not taken yet waits here, where it is smaller.
    if (this.#settings.isFull() || !isQuiet && now - oldest.at < LONGEST_MS) {
      this.#timer = this.#settings.clock.setTimeout(() => this.#look(), QUIET_MS);
      return;
    }
    do this.#next(); while (this.#done < this.#entries.length && this.#settings.elapsedMs() - now < SLICE_MS);
    if (this.#done < this.#entries.length) {
      this.#timer = this.#settings.clock.setTimeout(() => this.#look(), 0);
    }
  }

  #next(): void {
    const entry = this.#entries[this.#done++];
    if (entry === undefined) return;
    if (this.#done === this.#entries.length) {
      this.#entries = [];
      this.#done = 0;
    } else if (this.#done === 1_024) {
      this.#entries.splice(0, this.#done);
      this.#done = 0;
    }
    if ("chunk" in entry) this.#bytes -= entry.chunk.length;
    const { recorder } = this.#settings;
    try {
      if ("chunk" in entry) recorder.take(entry.from, entry.chunk, entry.at);
      else if ("ended" in entry) recorder.end(entry.ended, entry.at);
      else recorder.event(entry.event, entry.at);
    } catch (error) {
      this.#settings.onFailed(error);
    }
  }
}
