import type { Logger } from "../../logger.ts";
import type { Clock } from "../../runtime.ts";
import type { ActiveRequest } from "./active_request.ts";

/** So long a handler has to end after its request was cancelled. */
const GRACE_MS = 10_000;
/** As many may go on without a permit: a client cannot make handlers pile up for ever. */
const MAX_LET_GO = 1_024;

/**
 * Handlers that go on although their requests were cancelled. Each keeps its permit for a while, then it goes to others: a client whose
 * calls hang, and that gives them up, is still served in the end (rule V18).
 */
export class StubbornHandlers {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #onLetGo: () => void;
  readonly #timers = new Map<ActiveRequest, unknown>();
  readonly #letGo = new Set<ActiveRequest>();
  #isOver = false;

  /** `onLetGo` is called when a handler has lost its permit. */
  constructor(clock: Clock, logger: Logger, onLetGo: () => void) {
    this.#clock = clock;
    this.#logger = logger;
    this.#onLetGo = onLetGo;
  }

  /** A request was cancelled whose handler runs. */
  cancelled(request: ActiveRequest): void {
    if (!this.#isOver) {
      this.#timers.set(
        request,
        this.#clock.setTimeout(() => this.#expired(request), GRACE_MS),
      );
    }
  }

  /** A handler has ended. Gives whether it had its permit still. */
  ended(request: ActiveRequest): boolean {
    if (this.#timers.size > 0) this.#stop(request);
    return this.#letGo.size === 0 || !this.#letGo.delete(request);
  }

  /** The session ends: nobody waits for permits any more. */
  end(): void {
    this.#isOver = true;
    for (const request of this.#timers.keys()) this.#stop(request);
  }

  #stop(request: ActiveRequest): void {
    this.#clock.clearTimeout(this.#timers.get(request));
    this.#timers.delete(request);
  }

  #expired(request: ActiveRequest): void {
    this.#timers.delete(request);
    if (this.#letGo.size >= MAX_LET_GO) return;
    this.#letGo.add(request);
    this.#logger.warn(
      `[mcp_stdio] the handler of "${request.method}" goes on ${GRACE_MS} ms after its request was cancelled`,
    );
    this.#onLetGo();
  }
}
