import type { Clock } from "../../runtime.ts";
import { GREATEST_DELAY_MS } from "../clock.ts";

/** Without an item the timer sleeps no longer than this, in milliseconds: it must not be what keeps a process alive. */
const LONGEST_IDLE_MS = 1_000;

interface Timer {
  readonly handle: unknown;
  readonly due: number;
}

/**
 * Deadlines of many items with one timer. Items of one duration are kept in the order in which they expire, so starting
 * and stopping cost the same however many there are.
 */
export class Deadlines<Item> {
  readonly #clock: Clock;
  readonly #onExpired: (item: Item) => void;
  /** By duration: when each item expires, the earliest first. */
  readonly #groups = new Map<number, Map<Item, number>>();
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

  /** Starts an item's deadline of this duration, or starts it anew. An infinite one never expires. */
  start(item: Item, durationMs: number): void {
    if (durationMs === Infinity) return;
    let group = this.#groups.get(durationMs);
    if (group === undefined) this.#groups.set(durationMs, group = new Map());
    if (!group.delete(item)) this.#size++; // Taken out so that it goes to the end.
    const now = this.#timeOfTurn();
    const due = now + durationMs;
    group.set(item, due);
    // The first look comes soon: most items are gone by then.
    this.#armBy(this.#timer === undefined ? Math.min(due, now + LONGEST_IDLE_MS) : due, now);
  }

  /** Stops an item's deadline. The timer is left if it is short: it finds nothing, and the next item needs it. */
  stop(item: Item, durationMs: number): void {
    const group = this.#groups.get(durationMs);
    if (group === undefined || !group.delete(item)) return;
    // A group that is used again and again is kept; odd durations must not add up.
    if (group.size === 0 && this.#groups.size > 8) this.#groups.delete(durationMs);
    if (--this.#size > 0 || this.#timer === undefined) return;
    const now = this.#now();
    if (this.#timer.due > now + LONGEST_IDLE_MS) this.#arm(now + LONGEST_IDLE_MS, now);
  }

  /** How long it is until an item's deadline of this duration passes; undefined when it has none. */
  leftOf(item: Item, durationMs: number): number | undefined {
    const due = this.#groups.get(durationMs)?.get(item);
    return due === undefined ? undefined : due - this.#now();
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
    this.#groups.clear();
    this.#size = 0;
    this.#disarm();
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
    for (const group of this.#groups.values()) {
      for (const [item, due] of group) {
        if (due > now) break;
        group.delete(item);
        expired.push(item);
      }
    }
    this.#size -= expired.length;
    for (const item of expired) this.#onExpired(item);
    this.#armNext(now);
  }

  #armNext(now: number): void {
    const next = this.#nextDue();
    if (next !== undefined) this.#armBy(next, now);
  }

  #nextDue(): number | undefined {
    let next: number | undefined;
    for (const group of this.#groups.values()) {
      for (const due of group.values()) {
        if (next === undefined || due < next) next = due;
        break;
      }
    }
    return next;
  }
}
