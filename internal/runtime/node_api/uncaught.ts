/** Errors that nobody caught, told instead of ending this process. */

type Undo = () => void;

/** What is used of a Node-like `process`. */
export interface ErrorEvents {
  on(event: string, listener: (error?: unknown) => void): unknown;
  removeListener(event: string, listener: (error?: unknown) => void): unknown;
  // deno-lint-ignore ban-types -- what Node's own types say
  listeners(event: string): Function[];
}

/** Listens by events of `process`. Where somebody else listens too, they decide what becomes of the process. */
export function listenToUncaught(
  process: ErrorEvents,
  events: readonly string[],
  callback: (error: unknown) => void,
): Undo {
  const undo = events.map((event): Undo => {
    const listener = (error?: unknown): void => {
      if (process.listeners(event).length === 1) callback(error);
    };
    process.on(event, listener);
    return () => process.removeListener(event, listener);
  });
  return () => undo.forEach((each) => each());
}
