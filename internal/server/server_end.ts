/** Why a server has ended. */
export interface ServerEnd {
  /**
   * `eof`: the client closed its end; `closed`: `close()` was called; `signal`: the process was told to end; `output_failed`: the
   * client no longer reads; `input_failed`: reading failed; `uncaught_error`: code of the process has thrown where nobody
   * catches; `parent_exited`: the process that started this one is gone.
   */
  readonly reason:
    | "eof"
    | "closed"
    | "signal"
    | "output_failed"
    | "input_failed"
    | "uncaught_error"
    | "parent_exited";
  /** What failed, or was thrown. */
  readonly error?: unknown;
}

/** Ends that leave requests in flight their time; after the others nobody waits, or nobody listens. */
const PATIENT_ENDS: ReadonlySet<ServerEnd["reason"]> = new Set(["eof", "closed", "input_failed"]);

/** Whether an end leaves requests in flight no time. */
export function isHurried({ reason }: ServerEnd): boolean {
  return !PATIENT_ENDS.has(reason);
}
