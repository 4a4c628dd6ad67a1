/** A promise with its two ends. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** Makes one. Its rejection counts as observed: whoever asked may have stopped caring, and that must not end the process. */
export function createDeferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return {
    promise,
    resolve,
    reject: (error) => {
      promise.catch(() => {});
      reject(error);
    },
  };
}

/** Whether what user code gave is still to come. */
export function isThenable<T>(outcome: T | PromiseLike<T>): outcome is PromiseLike<T> {
  return typeof (outcome as { then?: unknown } | null | undefined)?.then === "function";
}
