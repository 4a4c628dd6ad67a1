import type { Clock } from "../../runtime.ts";
import { GREATEST_DELAY_MS } from "../clock.ts";

/** Without an item the timer sleeps no longer than this, in milliseconds: it must not be what keeps a process alive. */
const LONGEST_IDLE_MS = 1_000;

interface Timer {
  readonly handle: unknown;
  readonly due: number;
}

/** The deadline of one item, from its start until it passes or is stopped. */
export interface Deadline<Item> {
  readonly item: Item;
  readonly due: number;
  /** Where it stands; undefined once it is over. */
  line: Line<Item> | undefined;
  before: Deadline<Item> | undefined;
  after: Deadline<Item> | undefined;
}

/** The deadlines of one duration, in the order in which they pass. */
interface Line<Item> {
  readonly durationMs: number;
  first: Deadline<Item> | undefined;
  last: Deadline<Item> | undefined;
}

/**
 * Deadlines of many items with one timer. Those of one duration stand in a line, so starting and stopping cost the same
 * however many there are.
 */
export class Deadlines<Item> {
  readonly #clock: Clock;
  readonly #onExpired: (item: Item) => void;
  readonly #lines = new Map<number, Line<Item>>();
  #size = 0;
  #timer: Timer | undefined;
  /** When time was stopped, if it stands still. */
  #stoppedAt: number | undefined;
  /** How long it has stood still altogether. */
  #stoodMs = 0;
  /** The time at which this turn began to start deadlines. */
  #turnBegan: number | undefined;

  constructor(clock: Clock, onExpired: (item: Item) => void) {
    this.#clock = clock;
    this.#onExpired = onExpired;
  }

  /** Starts a deadline of this duration for an item. An infinite one never passes, and is none. */
  start(item: Item, durationMs: number): Deadline<Item> | undefined {
    if (durationMs === Infinity) return undefined;
    let line = this.#lines.get(durationMs);
    if (line === undefined) {
      line = { durationMs, first: undefined, last: undefined };
      this.#lines.set(durationMs, line);
    }
    const now = this.#timeOfTurn();
    const due = now + durationMs;
    const { last } = line;
    const deadline: Deadline<Item> = { item, due, line, before: last, after: undefined };
    if (last === undefined) line.first = deadline;
    else last.after = deadline;
    line.last = deadline;
    this.#size++;
    // The first look comes soon: most items are gone by then.
    this.#armBy(this.#timer === undefined ? Math.min(due, now + LONGEST_IDLE_MS) : due, now);
    return deadline;
  }

  /** Stops a deadline. The timer is left if it is short: it finds nothing, and the next item needs it. */
  stop(deadline: Deadline<Item> | undefined): void {
    const line = deadline?.line;
    if (deadline === undefined || line === undefined) return;
    this.#takeOut(deadline, line);
    // A line that is used again and again is kept; odd durations must not add up.
    if (line.first === undefined && this.#lines.size > 8) this.#lines.delete(line.durationMs);
    if (this.#size > 0 || this.#timer === undefined) return;
    const now = this.#now();
    if (this.#timer.due > now + LONGEST_IDLE_MS) this.#arm(now + LONGEST_IDLE_MS, now);
  }

  /** How long it is until a deadline passes; undefined for none, or one that is over. */
  leftOf(deadline: Deadline<Item> | undefined): number | undefined {
    return deadline?.line === undefined ? undefined : deadline.due - this.#now();
  }

  /** Lets time stand still for all of them. */
  freeze(): void {
    this.#turnBegan = undefined;
    this.#stoppedAt ??= this.#clock.now();
    this.#disarm();
  }

  /** Lets it go on. */
  thaw(): void {
    this.#turnBegan = undefined;
    if (this.#stoppedAt === undefined) return;
    this.#stoodMs += this.#clock.now() - this.#stoppedAt;
    this.#stoppedAt = undefined;
    this.#armNext(this.#now());
  }

  /** Stops all of them and the timer. */
  clear(): void {
    for (const line of this.#lines.values()) {
      while (line.first !== undefined) this.#takeOut(line.first, line);
    }
    this.#lines.clear();
    this.#disarm();
  }

  /** One that is over holds no other: an old one would keep all that came later in memory. */
  #takeOut(deadline: Deadline<Item>, line: Line<Item>): void {
    const { before, after } = deadline;
    if (before === undefined) line.first = after;
    else before.after = after;
    if (after === undefined) line.last = before;
    else after.before = before;
    deadline.line = deadline.before = deadline.after = undefined;
    this.#size--;
  }

  #now(): number {
    return (this.#stoppedAt ?? this.#clock.now()) - this.#stoodMs;
  }

  /** Many calls begin in one turn, and to ask for the time costs as much as the rest of a deadline. */
  #timeOfTurn(): number {
    if (this.#turnBegan === undefined) {
      this.#turnBegan = this.#now();
      queueMicrotask(this.#endTurn);
    }
    return this.#turnBegan;
  }

  readonly #endTurn = (): void => {
    this.#turnBegan = undefined;
  };

  #disarm(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer.handle);
    this.#timer = undefined;
  }

  #armBy(due: number, now: number): void {
    if (this.#timer === undefined || due < this.#timer.due) this.#arm(due, now);
  }

  #arm(wanted: number, now: number): void {
    this.#disarm();
    if (this.#stoppedAt !== undefined) return;
    const due = Math.min(wanted, now + GREATEST_DELAY_MS);
    this.#timer = { due, handle: this.#clock.setTimeout(() => this.#fire(due), Math.max(0, due - now)) };
  }

  /** A timer that fires is believed: test tools fake timers and leave the time of day alone. */
  #fire(firedDue: number): void {
    this.#timer = undefined;
    const now = Math.max(firedDue, this.#now());
    const expired: Item[] = [];
    for (const line of this.#lines.values()) {
      for (let next = line.first; next !== undefined && next.due <= now; next = line.first) {
        this.#takeOut(next, line);
        expired.push(next.item);
      }
    }
    for (const item of expired) this.#onExpired(item);
    this.#armNext(now);
  }

  #armNext(now: number): void {
    const next = this.#nextDue();
    if (next !== undefined) this.#armBy(next, now);
  }

  #nextDue(): number | undefined {
    let next: number | undefined;
    for (const { first } of this.#lines.values()) {
      if (first !== undefined && (next === undefined || first.due < next)) next = first.due;
    }
    return next;
  }
}
