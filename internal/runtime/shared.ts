/** Something that is put in place for the first who wants it, and taken away with the last. */
export class Shared {
  readonly #install: () => () => void;
  #holders = 0;
  #uninstall: () => void = () => {};

  constructor(install: () => () => void) {
    this.#install = install;
  }

  /** Wants it; returns what gives it up again. */
  hold(): () => void {
    if (this.#holders === 0) this.#uninstall = this.#install();
    this.#holders++;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holders--;
      if (this.#holders === 0) this.#uninstall();
    };
  }
}
