import { type Logger, stderrLogger } from "../logger.ts";
import type { Clock } from "../runtime.ts";
import { callGuarded, textOfThrown } from "./thrown.ts";

/** Facts that stand beside each warning and error, such as which server it is about. */
export type Facts = { readonly [name: string]: unknown };

/**
 * A logger around another: one that throws, or gives a promise that rejects, changes nothing for its caller; and warnings
 * and errors that are equal are counted rather than repeated.
 */
class SafeLogger implements Logger {
  readonly debug: (message: string, ...details: unknown[]) => void;
  readonly info: (message: string, ...details: unknown[]) => void;
  readonly warn: (message: string, ...details: unknown[]) => void;
  readonly error: (message: string, ...details: unknown[]) => void;
  readonly #lines: RepeatedLines;

  constructor(logger: Logger, clock: Clock, facts: () => Facts | undefined) {
    const showsDetails = logger === stderrLogger;
    const call = (level: keyof Logger, message: string, details: readonly unknown[]): void => {
      const say = () => logger[level](showsDetails ? message : withError(message, details), ...details);
      callGuarded(say, () => {}); // There is nobody left to tell.
    };
    this.#lines = new RepeatedLines((level, message, details) => {
      call(level, message, withFacts(details, facts()));
    }, clock);
    this.debug = (message, ...details) => call("debug", message, details);
    this.info = (message, ...details) => call("info", message, details);
    this.warn = (message, ...details) => this.#lines.add("warn", message, details);
    this.error = (message, ...details) => this.#lines.add("error", message, details);
  }

  flush(): void {
    this.#lines.flush();
  }
}

/** Wraps a logger so that it can be told anything, any number of times. */
export function toSafeLogger(
  logger: Logger,
  clock: Clock,
  facts: () => Facts | undefined = () => undefined,
): Logger {
  return new SafeLogger(logger, clock, facts);
}

/** Has a logger of {@linkcode toSafeLogger} say what it has counted and not yet told: its owner has come to an end. */
export function flushLogger(logger: Logger): void {
  if (logger instanceof SafeLogger) logger.flush();
}

function withFacts(details: readonly unknown[], facts: Facts | undefined): readonly unknown[] {
  if (facts === undefined) return details;
  const [first, ...others] = details;
  const isObject = typeof first === "object" && first !== null && !(first instanceof Error);
  return isObject ? [{ ...first, ...facts }, ...others] : [facts, ...details];
}

/** Loggers that drop what follows the message, as pino does, or write an error as `{}`, as JSON does, say at least what it was. */
function withError(message: string, [first]: readonly unknown[]): string {
  if (typeof first !== "object" || first === null || !("error" in first) || first.error === undefined) {
    return message;
  }
  const text = textOfThrown(first.error);
  return message.includes(text) ? message : `${message}: ${text}`;
}

/** As many lines are said in a second. */
const MAX_LINES_PER_SECOND = 20;
const SECOND_MS = 1_000;
/** As many kinds of lines are known at a time. */
const MAX_KINDS = 64;
/** By so much of its text a line is known again. */
const MAX_KEY_LENGTH = 2_048;
/** A line that has not come for so long counts as new, in milliseconds. */
const FORGET_AFTER_MS = 60_000;

/** Levels whose lines are counted; what is below is said as it comes. */
export type CountedLevel = "warn" | "error";

/** Says one line. */
export type Say = (level: CountedLevel, message: string, details: readonly unknown[]) => void;

type Summary = { readonly [name: string]: string };

/** A line that has been said, and how often it has come since. */
interface Kind {
  readonly level: CountedLevel;
  readonly message: string;
  /** What stood beside it, in words: an error would keep alive whatever caused it. */
  readonly facts: Summary;
  more: number;
  last: number;
  /** The pause until it is said again; it grows, so that what goes on for hours does not fill a log. */
  pauseMs: number;
  /** When it may be said again. */
  due: number;
}

/**
 * Says lines once and counts those that are equal, so that a peer that repeats a mistake a million times costs a few lines.
 * Different ones are said too, up to some in a second. Nothing is left uncounted: what was held back is told soon, when
 * the line comes again, or by {@linkcode RepeatedLines.flush}.
 */
export class RepeatedLines {
  readonly #say: Say;
  readonly #clock: Clock;
  readonly #kinds = new Map<string, Kind>();
  #secondEnds = -Infinity;
  #saidInSecond = 0;
  #leftOut = 0;
  #timer: unknown;

  constructor(say: Say, clock: Clock) {
    this.#say = say;
    this.#clock = clock;
  }

  /** Says a line, or counts it. */
  add(level: CountedLevel, message: string, details: readonly unknown[]): void {
    const now = this.#clock.now();
    const facts = summarize(details);
    const key = `${level} ${message} ${Object.values(facts).join(" ")}`.slice(0, MAX_KEY_LENGTH);
    const known = this.#kinds.get(key);
    if (known !== undefined && now - known.last < FORGET_AFTER_MS) return this.#repeat(known, now);
    if (known !== undefined) this.#forget(key, known);
    if (!this.#hasRoom(now)) {
      this.#leftOut++;
      return this.#wakeIn(SECOND_MS);
    }
    for (const [oldest, kind] of this.#kinds) {
      if (this.#kinds.size < MAX_KINDS) break;
      this.#forget(oldest, kind);
    }
    const due = now + SECOND_MS;
    this.#kinds.set(key, { level, message, facts, more: 0, last: now, pauseMs: SECOND_MS, due });
    this.#say(level, message, details);
  }

  /** Says what was counted and not yet told. */
  flush(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [key, kind] of this.#kinds) this.#forget(key, kind);
    this.#tellLeftOut();
  }

  #repeat(kind: Kind, now: number): void {
    kind.last = now;
    kind.more++;
    if (now >= kind.due) this.#tell(kind, kind.more === 1 ? 0 : kind.more, now);
    // A longer wait is left to the next line: no timer of this kind may keep a process alive.
    else if (kind.due - now <= SECOND_MS) this.#wakeIn(kind.due - now);
  }

  #hasRoom(now: number): boolean {
    if (now >= this.#secondEnds) {
      this.#secondEnds = now + SECOND_MS;
      this.#saidInSecond = 0;
    }
    return ++this.#saidInSecond <= MAX_LINES_PER_SECOND;
  }

  #wakeIn(delayMs: number): void {
    this.#timer ??= this.#clock.setTimeout(() => this.#wake(), delayMs);
  }

  #wake(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    for (const kind of this.#kinds.values()) {
      if (kind.more > 0 && kind.due <= now) this.#tell(kind, kind.more, now);
    }
    this.#tellLeftOut();
  }

  #tell(kind: Kind, more: number, now: number): void {
    kind.more = 0;
    kind.pauseMs *= 2;
    kind.due = now + kind.pauseMs;
    this.#say(kind.level, withCount(kind.message, more), [kind.facts]);
  }

  #tellLeftOut(): void {
    const count = this.#leftOut;
    this.#leftOut = 0;
    if (count > 0) this.#say("warn", `[mcp_stdio] left out ${count} other warnings`, []);
  }

  #forget(key: string, kind: Kind): void {
    this.#kinds.delete(key);
    if (kind.more > 0) this.#say(kind.level, withCount(kind.message, kind.more), [kind.facts]);
  }
}

function withCount(message: string, more: number): string {
  return more === 0 ? message : `${message} (and ${more} more)`;
}

/** The facts beside a line, in words; two lines are equal if their text and these are. */
function summarize(details: readonly unknown[]): Summary {
  const facts: { [name: string]: string } = {};
  try {
    for (const detail of details) {
      const isObject = typeof detail === "object" && detail !== null && !(detail instanceof Error);
      for (const [name, value] of Object.entries(isObject ? detail : { detail })) {
        facts[name] = textOfThrown(value);
      }
    }
  } catch {
    facts.detail = "it cannot be looked at";
  }
  return facts;
}
