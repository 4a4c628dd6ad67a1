import type { Logger } from "../../logger.ts";
import type { Clock, ExitStatus } from "../../runtime.ts";
import { createDeferred, type Deferred } from "../promises.ts";
import { describeExit } from "./exit_words.ts";
import type { CloseReport, Graces, Link } from "./link.ts";

/** The life of a client's server. A variant holds only what exists in it. */
export type Life =
  /** A server is being started and greeted. */
  | { readonly phase: "starting"; readonly link: Link | undefined }
  | { readonly phase: "ready"; readonly link: Link; readonly since: number }
  /** The server has ended by itself or could not be had; it is reaped before the next one starts. */
  | { readonly phase: "ending"; readonly link: Link }
  /** Before the next start. */
  | { readonly phase: "waiting" }
  /** No other server will be started; the last one is being ended. */
  | { readonly phase: "closing"; readonly link: Link | undefined }
  | { readonly phase: "closed" };

/** What the supervisor asks of the client, and tells it. Only the first two may take their time or reject. */
export interface SupervisorPort {
  /** Starts a server. */
  open(): Promise<Link>;
  /** Begins to read from a link, if that is not done yet, and makes it ready for requests. Rejects if it cannot. */
  prepare(link: Link): Promise<void>;
  /** Whether a link has come to its end. */
  hasEnded(link: Link): boolean;
  /** Why the last server has ended, in words. */
  readonly cause: string;
  /** A server is lost: what was under way on it is settled, or kept if another one follows. */
  lost(willRestart: boolean): void;
  /** The life has changed. */
  changed(life: Life): void;
  /** There will be no other server. */
  over(cause: unknown): void;
}

/** What a supervisor goes by. */
export interface SupervisorSettings {
  readonly maxRestarts: number;
  readonly graces: Graces;
  readonly clock: Clock;
  readonly logger: Logger;
  /** From 0 to below 1; spreads the waits. */
  readonly random: () => number;
}

/** A server that lived so long starts with a clean record, in milliseconds. */
const STABLE_MS = 60_000;

/**
 * Starts a server, starts it again when it ends by itself, and ends it: one state, changed at one door (rule P8). After each
 * wait it is looked at anew, since anybody may have closed or killed meanwhile.
 */
export class Supervisor {
  readonly #port: SupervisorPort;
  readonly #settings: SupervisorSettings;
  readonly #closed = createDeferred<CloseReport>();
  #life: Life = { phase: "starting", link: undefined };
  /** A start that is under way; if nobody wants the server any more, also its end. Never rejects. */
  #opening: Promise<CloseReport | undefined> = Promise.resolve(undefined);
  /** How whoever closed wants a server ended. */
  #endLink: (link: Link) => Promise<CloseReport>;
  #inARow = 0;
  #restartCount = 0;
  #lastExit: ExitStatus | null = null;
  #wake: (() => void) | undefined;
  /** Settles when a server is ready, or none will be; somebody waits for that. */
  #settled: Deferred<void> | undefined;

  constructor(port: SupervisorPort, settings: SupervisorSettings) {
    this.#port = port;
    this.#settings = settings;
    this.#endLink = (link) => link.end(settings.graces);
  }

  get life(): Life {
    return this.#life;
  }

  /** The server in use, being started or being ended, if there is one. */
  get link(): Link | undefined {
    return "link" in this.#life ? this.#life.link : undefined;
  }

  /** How many times a server was started again. */
  get restartCount(): number {
    return this.#restartCount;
  }

  /** How the last server that was reaped ended (rule P6). */
  get lastExit(): ExitStatus | null {
    return this.link?.exit ?? this.#lastExit;
  }

  /** Resolves when the last server has ended and there will be no other. */
  get closed(): Promise<CloseReport> {
    return this.#closed.promise;
  }

  /** Whether no server will be started any more. */
  get isOver(): boolean {
    return this.#life.phase === "closing" || this.#life.phase === "closed";
  }

  /** Starts the first server. Rejects if that fails, and then nothing is left of it. */
  async start(): Promise<void> {
    try {
      await this.#startOnce();
    } catch (error) {
      await this.close(this.#settings.graces);
      throw error;
    }
  }

  /** Replaces a server that ended while it was being greeted; that is no restart (rule E2). */
  async relaunch(ended: Link): Promise<Link> {
    const life = this.#life;
    const { exit } = await ended.end(this.#settings.graces);
    if (this.#life !== life) throw new Error("the server is no longer wanted");
    this.#lastExit = exit;
    return await this.#open();
  }

  /** Takes note that a server has ended by itself, and goes on as the settings say. */
  async lost(link: Link): Promise<void> {
    if (this.#life.phase !== "ready" || this.#life.link !== link) return;
    if (this.#settings.clock.now() - this.#life.since >= STABLE_MS) this.#inARow = 0;
    await this.#goOn(link, undefined);
  }

  /** Ends the server and starts another, whatever the record. Resolves when that is ready; rejects when none will be. */
  restart(graces: Graces): Promise<void> {
    if (this.isOver) return Promise.reject(new Error("the client was closed"));
    this.#settled ??= createDeferred();
    const { promise } = this.#settled;
    if (this.#life.phase === "ready") this.#goOn(this.#life.link, undefined, graces);
    return promise;
  }

  /** Makes a server ready anew that is not what it was taken for (rule E4). */
  async renew(link: Link): Promise<void> {
    if (this.#life.phase !== "ready" || this.#life.link !== link) return;
    this.#enter({ phase: "starting", link });
    try {
      await this.#makeReady(link);
    } catch (error) {
      if (!this.isOver) await this.#goOn(this.link, error);
    }
  }

  /** Ends the server in order (rule P3). From now on none is started. */
  close(graces: Graces): Promise<CloseReport> {
    if (!this.isOver) this.#end((link) => link.end(graces));
    return this.#closed.promise;
  }

  /** Ends the server at once, also one that is just being started or closed (rule P4). */
  kill(): Promise<CloseReport> {
    if (!this.isOver) this.#end((link) => link.kill());
    else if (this.#life.phase === "closing") {
      this.#endLink = (link) => link.kill();
      this.#life.link?.kill();
    }
    return this.#closed.promise;
  }

  async #end(endLink: (link: Link) => Promise<CloseReport>): Promise<void> {
    const { link } = this;
    this.#endLink = endLink;
    this.#enter({ phase: "closing", link });
    this.#wake?.();
    const ended = link === undefined ? undefined : await endLink(link);
    // A process that was just being started is ended by then, too.
    const report = await this.#opening ?? ended ?? { exit: this.#lastExit, step: "already" };
    this.#finish(report, undefined);
  }

  /**
   * After a server was lost or could not be had: ends what is left of it and starts the next one, if there may be one. One that is
   * replaced by request is ended within `askedGraces`, and that does not count.
   */
  async #goOn(lostLink: Link | undefined, lostCause: unknown, askedGraces?: Graces): Promise<void> {
    const { logger, maxRestarts } = this.#settings;
    let report: CloseReport = { exit: this.#lastExit, step: "already" };
    for (let link = lostLink, cause = lostCause, asked = askedGraces;; asked = undefined) {
      const willRestart = asked !== undefined || this.#inARow < maxRestarts;
      if (!willRestart) this.#enter({ phase: "closing", link });
      else if (link !== undefined) this.#enter({ phase: "ending", link });
      if (link !== undefined) {
        this.#port.lost(willRestart);
        report = await link.end(asked ?? this.#settings.graces);
        this.#lastExit = report.exit;
      }
      // A start may still be under way that took too long: at no time are there two servers.
      await this.#opening;
      if (!willRestart) {
        const facts = { exit: describeExit(report.exit), cause: this.#port.cause };
        logger.warn("[mcp_stdio] the server has ended", facts);
        return this.#finish(report, cause);
      }
      if (asked === undefined) await this.#holdBack(report);
      if (this.isOver) return;
      this.#restartCount++;
      this.#enter({ phase: "starting", link: undefined });
      try {
        return await this.#startOnce();
      } catch (error) {
        if (this.isOver) return;
        logger.warn("[mcp_stdio] the server could not be started again", { error: String(error) });
        link = this.link;
        cause = error;
      }
    }
  }

  async #startOnce(): Promise<void> {
    await this.#makeReady(await this.#open());
  }

  async #makeReady(opened: Link): Promise<void> {
    await this.#port.prepare(opened);
    // It may have been replaced while it was greeted.
    const { link } = this;
    if (this.#life.phase !== "starting" || link === undefined) throw new Error("the client was closed");
    this.#enter({ phase: "ready", link, since: this.#settings.clock.now() });
    if (this.#port.hasEnded(link)) this.lost(link);
  }

  async #open(): Promise<Link> {
    const life = this.#life;
    if (life.phase !== "starting") throw new Error("the client was closed");
    const opened = this.#port.open();
    const settled = opened.then(async (link) => {
      if (this.#life === life) {
        this.#enter({ phase: "starting", link });
        return undefined;
      }
      // Nobody waits for it any more, but it runs.
      if (this.#life.phase === "closing") this.#enter({ phase: "closing", link });
      const report = await this.#endLink(link);
      this.#lastExit = report.exit;
      return report;
    }, () => undefined);
    this.#opening = settled;
    const link = await opened;
    if (this.link !== link || this.#life.phase !== "starting") throw new Error("the client was closed");
    return link;
  }

  /** Waits before a restart that nobody has asked for. */
  async #holdBack({ exit }: CloseReport): Promise<void> {
    if (this.isOver) return;
    const { logger, clock, random } = this.#settings;
    const waitMs = backoffMs(++this.#inARow, random());
    const facts = {
      exit: describeExit(exit),
      cause: this.#port.cause,
      restart: this.#restartCount + 1,
      waitMs,
    };
    logger.warn("[mcp_stdio] the server has ended and is started again", facts);
    this.#enter({ phase: "waiting" });
    if (this.isOver) return;
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, waitMs);
      this.#wake = () => {
        clock.clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  #finish(report: CloseReport, cause: unknown): void {
    this.#lastExit = report.exit;
    this.#enter({ phase: "closed" });
    this.#port.over(cause);
    this.#closed.resolve(report);
  }

  #enter(life: Life): void {
    this.#life = life;
    this.#port.changed(life);
    if (life.phase === "ready") this.#settled?.resolve();
    else if (life.phase === "closed") this.#settled?.reject(new Error("the client was closed"));
    else return;
    this.#settled = undefined;
  }
}

/** What is waited before the first, second, … restart in a row, in milliseconds; the last one is kept. */
const STEPS_MS = [0, 250, 1_000, 4_000];

/** As much of a step as chance adds or takes. */
const JITTER = 0.25;

/**
 * The wait before a restart (rule P8).
 *
 * @param attempt 1 for the first restart in a row.
 * @param random From 0 to below 1.
 */
export function backoffMs(attempt: number, random: number): number {
  const step = STEPS_MS[Math.min(attempt, STEPS_MS.length) - 1]!;
  return Math.round(step * (1 - JITTER + 2 * JITTER * random));
}
