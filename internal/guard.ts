import { isThenable } from "./thenable.ts";

/**
 * Calls a function of the user's: it may throw, now or as a promise that rejects, and nothing comes of that but that `onError`
 * is told. Gives a promise for its end if it takes its time.
 */
export function callGuarded(
  call: () => unknown,
  onError: (error: unknown) => void,
): Promise<void> | undefined {
  try {
    const outcome = call();
    if (isThenable(outcome)) return Promise.resolve(outcome).then(() => {}, onError);
  } catch (error) {
    onError(error);
  }
  return undefined;
}
