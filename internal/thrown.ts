/** What user code throws or rejects with: such a value can throw again when it is looked at. */

import { isThenable } from "./promises.ts";

/** Longer texts of errors are cut: they stand in logs and in the messages of other errors. */
const MAX_TEXT_LENGTH = 512;

/** Whether it is of a class. */
export function isA<T>(thrown: unknown, type: abstract new (...args: never[]) => T): thrown is T {
  try {
    return thrown instanceof type;
  } catch {
    return false; // A proxy whose trap throws is of no class that is known here.
  }
}

/** Its message, or itself as text. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "a value without a text was thrown";
  }
}

/** The same on one line, and not long. */
export function textOfThrown(thrown: unknown): string {
  const text = messageOf(thrown);
  const line = text.slice(0, MAX_TEXT_LENGTH).replaceAll(/[\r\n]+/g, " ");
  return text.length > MAX_TEXT_LENGTH ? `${line}…` : line;
}

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
