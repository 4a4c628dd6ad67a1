/**
 * Errors that nobody caught, on Deno. They are events of the global object, which end the process unless a listener
 * prevents that. A listener sees what those before it did; that one after it will, it cannot know.
 */

import { denoInternals } from "./namespace.ts";

/** The events, beside others that are not of errors. */
export type DenoErrorType = "error" | "unhandledrejection";

/** One of them. */
export interface DenoErrorEvent {
  readonly defaultPrevented: boolean;
  readonly error?: unknown;
  readonly reason?: unknown;
  preventDefault(): void;
}

/** Where they come. */
export interface DenoGlobalEvents {
  addEventListener(type: string, listener: (event: DenoErrorEvent) => void): void;
  removeEventListener(type: string, listener: (event: DenoErrorEvent) => void): void;
}

/** The global object as that. */
export const globalEvents: DenoGlobalEvents = globalThis as unknown as DenoGlobalEvents;

const ERROR_TYPES: readonly DenoErrorType[] = ["error", "unhandledrejection"];

/** Tells errors that nobody caught, and keeps them from ending the process, unless somebody else handles them. */
export class DenoErrorCatcher {
  #catchers = 0;

  /** Whether errors are caught now, whoever catches them. */
  catches(type: DenoErrorType, event: DenoErrorEvent): boolean {
    return event.defaultPrevented || this.#catchers > 0 || nodeLayerHandles(type);
  }

  /** Calls back with each error; returns what undoes it. */
  add(callback: (error: unknown) => void): () => void {
    const undo = ERROR_TYPES.map((type) => {
      const listener = (event: DenoErrorEvent): void => {
        if (event.defaultPrevented || nodeLayerHandles(type)) return;
        event.preventDefault();
        callback(type === "error" ? event.error : event.reason);
      };
      globalEvents.addEventListener(type, listener);
      return () => globalEvents.removeEventListener(type, listener);
    });
    this.#catchers++;
    return () => {
      if (undo.length > 0) this.#catchers--;
      undo.splice(0).forEach((each) => each());
    };
  }
}

/** Whether there is a listener for errors on `process`. If Deno's Node layer is not loaded there is none. */
function nodeLayerHandles(type: DenoErrorType): boolean {
  if (denoInternals().__nodeProcessBootstrapped !== true) return false;
  const { process } = globalThis as unknown as { process: { listenerCount(event: string): number } };
  return process.listenerCount("uncaughtException") > 0 ||
    type === "unhandledrejection" && process.listenerCount("unhandledRejection") > 0;
}
