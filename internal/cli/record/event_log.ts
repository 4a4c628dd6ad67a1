/**
 * Lines of a recording on their way into its file. They are written together, a little later, one write at a time. What the
 * file does not take costs the recording and not the session: when it is too slow lines are left out and counted, and when it
 * fails no more are written.
 */

import type { Clock } from "../../../runtime.ts";
import { formatEvent } from "../recording/format.ts";

/** Where lines go. */
export interface LineFile {
  append(text: string): Promise<void>;
  close(): Promise<void>;
}

/** What an event log needs. */
export interface EventLogSettings {
  readonly clock: Clock;
  readonly elapsedMs: () => number;
  /** Told once, when the file fails. */
  readonly onFailed: (error: unknown) => void;
}

/** Lines wait so long for others. */
const DELAY_MS = 20;
/** So many characters are written without waiting. */
const FULL_LENGTH = 262_144;
/** When so many wait, no more should be made; what comes nevertheless is left out when they are twice as many. */
const HIGH_LENGTH = 16_777_216;

/** Lines on their way. */
export class EventLog {
  readonly #file: LineFile;
  readonly #settings: EventLogSettings;
  #waiting = "";
  #left = 0;
  #timer: unknown;
  #writing: Promise<void> | undefined;
  #hasFailed = false;

  constructor(file: LineFile, settings: EventLogSettings) {
    this.#file = file;
    this.#settings = settings;
  }

  /** Whether lines wait that the file is slow to take. */
  get isFull(): boolean {
    return !this.#hasFailed && this.#waiting.length > HIGH_LENGTH;
  }

  /** Resolves when the file has taken some. */
  async hasRoom(): Promise<void> {
    while (this.isFull) {
      this.#flush();
      await this.#writing;
    }
  }

  /** Puts down lines. */
  write(lines: string): void {
    if (this.#hasFailed) return;
    if (this.#waiting.length > 2 * HIGH_LENGTH) {
      this.#left += countLines(lines);
      return;
    }
    this.#waiting += lines;
    if (this.#writing === undefined) this.#flushSoon();
  }

  /** Resolves when all is written, or cannot be. */
  async close(): Promise<void> {
    while (!this.#hasFailed && (this.#waiting !== "" || this.#writing !== undefined)) {
      this.#flush();
      await this.#writing;
    }
    await this.#file.close().catch((error) => this.#fail(error));
  }

  #flush(): void {
    this.#settings.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing !== undefined || this.#waiting === "" || this.#hasFailed) return;
    const lines = this.#waiting;
    this.#waiting = "";
    this.#writing = this.#file.append(lines).then(() => this.#written(), (error) => this.#fail(error));
  }

  #written(): void {
    this.#writing = undefined;
    if (this.#left > 0) {
      const events = this.#left;
      this.#left = 0;
      const t = this.#settings.elapsedMs();
      this.#waiting += formatEvent({ kind: "gap", t, events, why: "the file was slower than the session" });
    }
    this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#waiting.length >= FULL_LENGTH) this.#flush();
    else if (this.#waiting !== "") {
      this.#timer ??= this.#settings.clock.setTimeout(() => this.#flush(), DELAY_MS);
    }
  }

  #fail(error: unknown): void {
    this.#writing = undefined;
    this.#waiting = "";
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#settings.onFailed(error);
  }
}

function countLines(lines: string): number {
  let count = 0;
  for (let at = lines.indexOf("\n"); at >= 0; at = lines.indexOf("\n", at + 1)) count++;
  return count;
}
