/** A signal that knows how many listeners it has. */
export class CountedSignal {
  readonly controller: AbortController = new AbortController();
  listeners = 0;

  constructor() {
    const { signal } = this.controller;
    const { addEventListener, removeEventListener } = signal;
    const known = new Set<unknown>();
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      if (!known.has(args[1])) this.listeners++;
      known.add(args[1]);
      addEventListener.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      if (known.delete(args[1])) this.listeners--;
      removeEventListener.apply(signal, args);
    };
  }
}
