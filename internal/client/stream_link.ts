import type { Connection } from "../../connection.ts";
import type { Clock } from "../../runtime.ts";
import { settlesWithin } from "../clock.ts";
import { createDeferred } from "../promises.ts";
import type { CloseReport, Graces, Link } from "./link.ts";

/** What a {@linkcode StreamLink} knows of its connection beyond the interface. */
export interface StreamActivity {
  readonly firstInput: Promise<void>;
  readonly bytesRead: number;
}

/** Two streams as a link. */
export class StreamLink implements Link {
  readonly connection: Connection;
  readonly pid = undefined;
  readonly exit = null;
  readonly stderrTail = "";
  readonly exited: Promise<never> = new Promise(() => {});
  readonly explained: Promise<void> = Promise.resolve();
  readonly firstSign: Promise<void>;
  readonly #activity: StreamActivity | undefined;
  readonly #clock: Clock;
  readonly #gone = createDeferred();
  #outputFailed = false;
  #end: Promise<CloseReport> | undefined;
  #killed = false;

  /** `activity` is undefined for a connection that does not tell. */
  constructor(connection: Connection, activity: StreamActivity | undefined, clock: Clock) {
    this.connection = connection;
    this.#activity = activity;
    this.#clock = clock;
    this.firstSign = activity?.firstInput ?? new Promise(() => {});
    connection.closed.then(({ kind }) => this.#outputFailed = kind === "output_failed");
  }

  get bytesRead(): number {
    return this.#activity?.bytesRead ?? 0;
  }

  get outputFailed(): boolean {
    return this.#outputFailed;
  }

  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  end({ shutdownGraceMs }: Graces): Promise<CloseReport> {
    this.#end ??= this.#endWithin(shutdownGraceMs);
    return this.#end;
  }

  kill(): Promise<CloseReport> {
    this.#killed = true;
    this.connection.abort();
    return this.end({ shutdownGraceMs: 0, terminateGraceMs: 0 });
  }

  /** A peer that does not read would hold up the flush for ever. */
  async #endWithin(graceMs: number): Promise<CloseReport> {
    const isFlushed = await settlesWithin(this.#clock, this.connection.close(), graceMs);
    this.connection.abort();
    this.#gone.resolve();
    return { exit: null, step: isFlushed && !this.#killed ? "eof" : "kill" };
  }
}
