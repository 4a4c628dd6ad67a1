import type { Connection } from "../../connection.ts";
import type { ExitStatus } from "../../runtime.ts";

/** How long each step of an orderly end may take, in milliseconds. */
export interface Graces {
  /** From the end of the server's input to SIGTERM. */
  readonly shutdownGraceMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly terminateGraceMs: number;
}

/** What ending a server took. */
export interface CloseReport {
  /** How its process ended; null without a process, or when the system does not say. */
  readonly exit: ExitStatus | null;
  /** `already`: it had ended; `eof`: the end of its input was enough; `term`: SIGTERM; `kill`: SIGKILL. */
  readonly step: "already" | "eof" | "term" | "kill";
}

/**
 * A server that is connected: a process, or whoever is at the other end of two streams. The client knows no more of it. None
 * of its promises rejects.
 */
export interface Link {
  readonly connection: Connection;
  /** The process's id; undefined without a process, and once that has been reaped. */
  readonly pid: number | undefined;
  /** Resolves with the first byte that came from the server, on whichever stream. */
  readonly firstSign: Promise<void>;
  /** Grows with every byte that comes from the server's output. */
  readonly bytesRead: number;
  /** How the process ended, once it has been reaped. */
  readonly exit: ExitStatus | null;
  /** Resolves when the process has been reaped; never without one. */
  readonly exited: Promise<unknown>;
  /** Resolves when all is known that an error can tell: the process is reaped and its stderr read to the end. */
  readonly explained: Promise<void>;
  /** The end of what the server wrote to stderr, if that is kept. */
  readonly stderrTail: string;
  /** Whether the server has stopped to take input. */
  readonly outputFailed: boolean;
  /** Ends the server in order; each call gives the same report. */
  end(graces: Graces): Promise<CloseReport>;
  /** Ends the server at once, with all that it started. */
  kill(): Promise<CloseReport>;
  /** Resolves when nothing is left of it. */
  readonly gone: Promise<void>;
}
