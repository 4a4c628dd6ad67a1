/**
 * Replacing methods in place, so that every holder of the object is reached, and giving them back; and what is in place only while
 * somebody wants it.
 */

type Method = (...args: unknown[]) => unknown;

/**
 * Makes a method of an object do something else until that is undone. When somebody else has replaced it meanwhile, it
 * is not taken away from them: ours then only passes on.
 */
export function divert(target: object, name: PropertyKey, replacement: Method): () => void {
  const methods = target as Record<PropertyKey, unknown>;
  const before = Object.getOwnPropertyDescriptor(target, name);
  const original = methods[name] as Method;
  let active = true;
  const method = function (this: unknown, ...args: unknown[]): unknown {
    return (active ? replacement : original).apply(this, args);
  };
  const shape = before !== undefined && "value" in before
    ? before
    : { writable: true, configurable: true, enumerable: true };
  Object.defineProperty(target, name, { ...shape, value: method });
  return () => {
    active = false;
    if (methods[name] !== method) return;
    if (before === undefined) delete methods[name];
    else Object.defineProperty(target, name, before);
  };
}

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
