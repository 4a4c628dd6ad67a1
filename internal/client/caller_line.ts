/**
 * The line of whoever awaits a request, in the error that it rejects with: the error itself is made where frames are read, far from
 * there. A request that succeeds pays nothing for it, or next to nothing.
 */

/**
 * V8 finds who awaits a promise also through another that it was resolved with. JavaScriptCore, whose errors know their line, finds
 * only who awaits a function that is still running.
 */
const LOOKS_THROUGH = !("line" in new Error());

/** Errors whose line is still to be found. */
const unplaced = new WeakSet<Error>();

/** Rejects a request with an error of ours. `promise` is what its caller awaits, and counts as observed from now on. */
export function rejectPlaced(
  error: Error,
  promise: Promise<unknown>,
  settle: { resolve(value: Promise<never>): void; reject(error: Error): void },
): void {
  if (LOOKS_THROUGH) return settle.resolve(place(error, promise));
  promise.catch(() => {}); // Whoever asked may have stopped caring.
  unplaced.add(error);
  settle.reject(error);
}

/** What a caller is given for the promise of a request. */
export function placed<T>(promise: Promise<T>): Promise<T> {
  if (LOOKS_THROUGH) return promise;
  const awaited = wait();
  return awaited;

  async function wait(): Promise<T> {
    try {
      return await promise;
    } catch (error) {
      if (unplaced.has(error as Error)) showCaller(error as Error);
      awaited.catch(() => {}); // As above, for the promise that the caller has.
      throw error;
    }
  }
}

async function place(error: Error, promise: Promise<unknown>): Promise<never> {
  // The two promises are tied in the turn after the next.
  await undefined;
  await undefined;
  showCaller(error);
  promise.catch(() => {}); // Not before: who awaits is found only if it is the only one.
  throw error;
}

/** Gives an error the trace of this very moment, as far as somebody waits. */
function showCaller(error: Error): void {
  const here: { stack?: string } = {};
  Error.captureStackTrace(here);
  // The first place is this function and its caller, which nobody wants to see.
  const places = String(here.stack).split("\n").filter((line) => /^\s+at async /.test(line));
  if (places.length > 0) error.stack = [`${error.name}: ${error.message}`, ...places].join("\n");
}
