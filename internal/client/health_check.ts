import type { Clock } from "../../runtime.ts";

/** What a check needs of the client. */
export interface HealthPort {
  /** Grows with whatever comes from the server. */
  readonly activity: number;
  /** Whether the server may be waiting for a person here, and so for nothing else. */
  readonly isAsking: boolean;
  /** Asks the server for a sign of life. Resolves to whether it answered within the time, whatever it said. */
  ask(timeoutMs: number): Promise<boolean>;
  /** The server hangs. */
  hangs(): void;
}

/** Finds a server that hangs: nothing has come from it for a while, nor comes when it is asked. */
export class HealthCheck {
  readonly #intervalMs: number;
  readonly #clock: Clock;
  readonly #port: HealthPort;
  /** Of the server that is watched; another one has another object. */
  #watch: { timer: unknown } | undefined;

  constructor(intervalMs: number, clock: Clock, port: HealthPort) {
    this.#intervalMs = intervalMs;
    this.#clock = clock;
    this.#port = port;
  }

  /** Watches the server that is ready now. */
  start(): void {
    this.stop();
    if (this.#intervalMs === Infinity) return;
    const watch = { timer: undefined };
    this.#watch = watch;
    this.#wait(watch);
  }

  stop(): void {
    if (this.#watch !== undefined) this.#clock.clearTimeout(this.#watch.timer);
    this.#watch = undefined;
  }

  #wait(watch: { timer: unknown }): void {
    const before = this.#port.activity;
    watch.timer = this.#clock.setTimeout(() => this.#look(watch, before), this.#intervalMs);
  }

  async #look(watch: { timer: unknown }, before: number): Promise<void> {
    if (this.#port.activity === before && !this.#port.isAsking) {
      const isAlive = await this.#port.ask(this.#intervalMs);
      if (this.#watch !== watch) return;
      if (!isAlive && this.#port.activity === before && !this.#port.isAsking) return this.#port.hangs();
    }
    this.#wait(watch);
  }
}
