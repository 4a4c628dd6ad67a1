/** Whether what user code gave is still to come. */
export function isThenable<T>(outcome: T | PromiseLike<T>): outcome is PromiseLike<T> {
  return typeof (outcome as { then?: unknown } | null | undefined)?.then === "function";
}
