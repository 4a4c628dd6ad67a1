/** Signals from whoever has started the recorder, handed on to the server once each. */

import type { ChildHandle, RuntimeAdapter, Signal } from "../../../runtime.ts";
import { GroupWatch } from "./group_watch.ts";
import type { UntimedEvent } from "./recorder.ts";

const HANDED_ON: readonly Signal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Hands on signals until it is stopped. */
export class SignalRelay {
  readonly #runtime: RuntimeAdapter;
  readonly #server: ChildHandle;
  readonly #onEvent: (event: UntimedEvent) => void;
  readonly #stopListening: () => void;
  #watch: Promise<GroupWatch | undefined>;
  #isStopped = false;

  constructor(runtime: RuntimeAdapter, server: ChildHandle, onEvent: (event: UntimedEvent) => void) {
    this.#runtime = runtime;
    this.#server = server;
    this.#onEvent = onEvent;
    this.#watch = GroupWatch.start(runtime, server.pid);
    this.#stopListening = runtime.onSignal(HANDED_ON, (signal) => void this.#take(signal));
  }

  /** The server has ended: there is nobody left to hand signals to. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopListening();
    (await this.#watch)?.stop();
  }

  async #take(signal: Signal): Promise<void> {
    // The one that was there when the signal came: it knows of it.
    const watch = await this.#watch;
    const wasForGroup = await watch?.wasForGroup() ?? false;
    if (this.#isStopped) return;
    this.#onEvent({ kind: "signal", signal, to: wasForGroup ? "group" : "server" });
    if (!wasForGroup) this.#server.signal(signal, "child");
    else if (await this.#watch === watch) this.#watch = GroupWatch.start(this.#runtime, this.#server.pid);
  }
}
