import type { Clock, ExitStatus } from "../../runtime.ts";
import { settlesWithin } from "../clock.ts";
import { createDeferred } from "../promises.ts";
import type { StreamConnection } from "../stream_connection.ts";
import type { OwnedProcess } from "./owned_process.ts";
import type { StderrDrain } from "./stderr_drain.ts";

/** So long stderr is still read once the process is gone, in milliseconds: somebody else may hold it open. */
const STDERR_GRACE_MS = 100;

/** How long each step of an orderly end may take, in milliseconds. */
export interface EndGraces {
  readonly shutdownGraceMs: number;
  readonly terminateGraceMs: number;
}

/** What an orderly end came to. */
export interface ProcessEndReport {
  readonly exit: ExitStatus | null;
  readonly step: "already" | "eof" | "term" | "kill";
}

/** The parts of a {@linkcode ProcessLink}. */
export interface ProcessLinkParts {
  readonly process: OwnedProcess;
  readonly connection: StreamConnection;
  readonly stderr: StderrDrain | undefined;
  readonly hasGracefulSignal: boolean;
  readonly clock: Clock;
  /** Called when the process is reaped and what it left in its group has been ended. */
  readonly onGone: () => void;
}

/** A server process with its pipes: reaped as soon as it exits, and ended step by step (rule P3). */
export class ProcessLink {
  readonly connection: StreamConnection;
  readonly firstSign: Promise<void>;
  readonly exited: Promise<ExitStatus | null>;
  readonly explained: Promise<void>;
  readonly #parts: ProcessLinkParts;
  readonly #gone = createDeferred();
  #helpersEnded: Promise<void> | undefined;
  #outputFailed = false;
  #end: Promise<ProcessEndReport> | undefined;
  #killed = false;

  constructor(parts: ProcessLinkParts) {
    const { process, connection, stderr } = parts;
    this.#parts = parts;
    this.connection = connection;
    this.firstSign = stderr === undefined
      ? connection.firstInput
      : Promise.race([connection.firstInput, stderr.firstSign]);
    this.exited = process.exited;
    this.explained = Promise.all([process.exited, stderr?.ended]).then(() => {});
    process.exited.then(() => {
      // At once, while the group's id cannot have been given to anybody else (rule P5).
      this.#helpersEnded = process.endHelpers().then(parts.onGone);
    });
    connection.closed.then(({ kind }) => this.#outputFailed = kind === "output_failed");
  }

  get pid(): number | undefined {
    const { process } = this.#parts;
    return process.reaped ? undefined : process.child.pid;
  }

  get bytesRead(): number {
    return this.connection.bytesRead;
  }

  get exit(): ExitStatus | null {
    return this.#parts.process.exit;
  }

  get stderrTail(): string {
    return this.#parts.stderr?.tail ?? "";
  }

  get outputFailed(): boolean {
    return this.#outputFailed;
  }

  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  end(graces: EndGraces): Promise<ProcessEndReport> {
    this.#end ??= this.#climb(graces);
    return this.#end;
  }

  kill(): Promise<ProcessEndReport> {
    const { process } = this.#parts;
    const isHastened = this.#end !== undefined && !this.#killed;
    this.#killed ||= !process.reaped;
    // An orderly end that is under way sees the process gone.
    if (isHastened) process.signal("SIGKILL");
    this.#end ??= this.#killNow();
    return this.#end;
  }

  /** The end of input, then SIGTERM, then SIGKILL; each step waits for the process, never for its pipes. */
  async #climb({ shutdownGraceMs, terminateGraceMs }: EndGraces): Promise<ProcessEndReport> {
    const { process, connection, hasGracefulSignal } = this.#parts;
    if (process.reaped) return await this.#finish("already");
    // A server that does not read holds up the flush; the steps do not wait for it. What it still writes is read, so that it
    // can finish.
    connection.endOutput();
    if (await process.reapedWithin(shutdownGraceMs)) return await this.#finish(this.#killed ? "kill" : "eof");
    if (hasGracefulSignal) {
      process.signal("SIGTERM");
      if (await process.reapedWithin(terminateGraceMs)) {
        return await this.#finish(this.#killed ? "kill" : "term");
      }
    }
    await process.kill();
    return await this.#finish("kill");
  }

  async #killNow(): Promise<ProcessEndReport> {
    const { process } = this.#parts;
    if (process.reaped) return await this.#finish("already");
    await process.kill();
    return await this.#finish("kill");
  }

  async #finish(step: ProcessEndReport["step"]): Promise<ProcessEndReport> {
    const { process, connection, stderr, clock } = this.#parts;
    await this.#helpersEnded;
    if (stderr !== undefined) await settlesWithin(clock, stderr.ended, STDERR_GRACE_MS);
    connection.abort();
    stderr?.cancel();
    this.#gone.resolve();
    return { exit: process.exit, step };
  }
}
