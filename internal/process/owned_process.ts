import type { ChildHandle, Clock, ExitStatus, RuntimeAdapter, Signal, SignalOutcome } from "../../runtime.ts";
import { delay, settlesWithin } from "../clock.ts";

/** So long a server's helpers have to end by themselves once it has ended, in milliseconds. */
const HELPER_GRACE_MS = 100;
const HELPER_POLL_MS = 10;
/** So long a process may take to be reaped after SIGKILL; only one that hangs in the system takes longer. */
const REAP_LIMIT_MS = 5_000;

/** What the process may be signalled with, and how. */
export interface OwnedProcessSettings {
  readonly processGroup: boolean;
  readonly runtime: RuntimeAdapter;
  readonly clock: Clock;
  /** Called when only the child of a group could be reached. */
  readonly onChildOnly: () => void;
  /** Called when the system refused to signal it. */
  readonly onRefused: (signal: Signal, error: unknown) => void;
}

/**
 * A process from its start to its reaping, and the one door for signals to it (rule P5): nothing is sent to an id that the
 * system may have given to somebody else.
 */
export class OwnedProcess {
  readonly child: ChildHandle;
  readonly #settings: OwnedProcessSettings;
  #exit: ExitStatus | null | undefined;
  readonly exited: Promise<ExitStatus | null>;

  constructor(child: ChildHandle, settings: OwnedProcessSettings) {
    this.child = child;
    this.#settings = settings;
    this.exited = child.exited.then((exit) => {
      this.#exit = exit;
      return exit;
    });
  }

  /** Whether it has been reaped. */
  get reaped(): boolean {
    return this.#exit !== undefined;
  }

  /** How it ended; null while it runs, or when the system does not say. */
  get exit(): ExitStatus | null {
    return this.#exit ?? null;
  }

  /** Signals it and its group, unless it has been reaped. */
  signal(signal: Signal): void {
    if (this.reaped) return;
    this.#send(signal);
  }

  /** Resolves to whether it was reaped within the time. */
  reapedWithin(durationMs: number): Promise<boolean> {
    return this.reaped ? Promise.resolve(true) : settlesWithin(this.#settings.clock, this.exited, durationMs);
  }

  /** Ends it with SIGKILL and waits until it is reaped. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.reapedWithin(REAP_LIMIT_MS);
  }

  /**
   * Ends what the process left behind in its group; never rejects. Only called right after the reaping: as long as a member is
   * there, the group's id is not given to anybody else.
   */
  async endHelpers(): Promise<void> {
    const { processGroup, clock, runtime } = this.#settings;
    if (!processGroup || runtime.os === "windows" || !this.child.groupAlive()) return;
    this.#send("SIGTERM");
    for (let waited = 0; waited < HELPER_GRACE_MS; waited += HELPER_POLL_MS) {
      await delay(clock, HELPER_POLL_MS);
      if (!this.child.groupAlive()) return;
    }
    this.#send("SIGKILL");
  }

  /** Ends it and its group now, synchronously; for the end of this process. */
  endNow(): void {
    if (this.reaped && !this.child.groupAlive()) return;
    try {
      this.#tell(this.child.killNow(this.#target));
    } catch (error) {
      this.#settings.onRefused("SIGKILL", error);
    }
  }

  #send(signal: Signal): void {
    // Whoever waits for its end goes on to the next step.
    const refused = (error: unknown): void => this.#settings.onRefused(signal, error);
    try {
      const outcome = this.child.signal(signal, this.#target);
      if (typeof outcome === "string") this.#tell(outcome);
      else outcome.then((late) => this.#tell(late), refused);
    } catch (error) {
      refused(error);
    }
  }

  get #target(): "child" | "group" {
    return this.#settings.processGroup ? "group" : "child";
  }

  #tell(outcome: SignalOutcome): void {
    if (outcome === "child_only") this.#settings.onChildOnly();
  }
}
