/** As much of a browser as the page uses, in memory: elements, a canvas that notes what is drawn, and frames that are drawn at once. */

/** An element. */
export class FakeElement {
  readonly tagName: string;
  readonly children: FakeElement[] = [];
  readonly style: Record<string, string> = {};
  readonly dataset: Record<string, string | undefined> = {};
  readonly attributes: Record<string, string> = {};
  readonly classList: { toggle(name: string, isOn?: boolean): boolean } = {
    toggle: (name, isOn) => this.#toggle(name, isOn),
  };
  className = "";
  id = "";
  title = "";
  hidden = false;
  value = "";
  scrollTop = 0;
  tabIndex = 0;
  clientWidth = 1_000;
  clientHeight = 240;
  width = 0;
  height = 0;
  parent: FakeElement | undefined;
  /** What was drawn since the canvas was cleared, as `name(arguments)`. */
  drawn: string[] = [];
  readonly #listeners = new Map<string, ((event: unknown) => void)[]>();
  #text = "";

  constructor(tagName: string) {
    this.tagName = tagName.toUpperCase();
  }

  get textContent(): string {
    return this.#text + this.children.map((child) => child.textContent).join("");
  }

  set textContent(text: string) {
    this.children.length = 0;
    this.#text = text;
  }

  get lastElementChild(): FakeElement | null {
    return this.children.at(-1) ?? null;
  }

  append(...children: (FakeElement | string)[]): void {
    for (const child of children) {
      const element = typeof child === "string" ? textElement(child) : child;
      element.parent = this;
      this.children.push(element);
    }
  }

  replaceChildren(...children: (FakeElement | string)[]): void {
    this.textContent = "";
    this.append(...children);
  }

  remove(): void {
    const siblings = this.parent?.children ?? [];
    siblings.splice(siblings.indexOf(this), 1);
  }

  setAttribute(name: string, value: string): void {
    this.attributes[name] = value;
  }

  removeAttribute(name: string): void {
    delete this.attributes[name];
  }

  addEventListener(type: string, listener: (event: unknown) => void): void {
    this.#listeners.set(type, [...this.#listeners.get(type) ?? [], listener]);
  }

  /** Lets something happen to it. */
  emit(type: string, event: Record<string, unknown> = {}): void {
    const whole = { target: this, clientX: 0, clientY: 0, preventDefault: () => {}, ...event };
    for (const listener of this.#listeners.get(type) ?? []) listener(whole);
  }

  closest(selector: string): FakeElement | null {
    if (this.className.split(" ").includes(selector.slice(1))) return this;
    return this.parent?.closest(selector) ?? null;
  }

  getBoundingClientRect(): { left: number; top: number; width: number; height: number } {
    return { left: 0, top: 0, width: this.clientWidth, height: this.clientHeight };
  }

  getContext(): unknown {
    const { drawn } = this;
    return new Proxy(
      { measureText: (text: string) => ({ width: text.length * 7 }) } as Record<string, unknown>,
      {
        get: (target, name: string) => {
          if (name in target) return target[name];
          return (...args: unknown[]) => {
            if (name === "clearRect") drawn.length = 0;
            drawn.push(`${name}(${args.join()})`);
          };
        },
      },
    );
  }

  focus(): void {}
  blur(): void {}
  select(): void {}
  setPointerCapture(): void {}

  /** All elements below it with a class. */
  all(className: string): FakeElement[] {
    return this.children.flatMap((child) => [
      ...child.className.split(" ").includes(className) ? [child] : [],
      ...child.all(className),
    ]);
  }

  #toggle(name: string, isOn = !this.className.split(" ").includes(name)): boolean {
    const names = this.className.split(" ").filter((other) => other !== name && other !== "");
    this.className = [...names, ...isOn ? [name] : []].join(" ");
    return isOn;
  }
}

function textElement(text: string): FakeElement {
  const element = new FakeElement("#text");
  element.textContent = text;
  return element;
}

/** A window with the elements that the page has. */
export class FakeWindow {
  readonly devicePixelRatio = 2;
  readonly elements: Map<string, FakeElement> = new Map();
  readonly root: FakeElement = new FakeElement("html");
  readonly keys: FakeElement = new FakeElement("document");
  copied = 0;
  isDark = false;

  constructor(data: string) {
    for (
      const id
        of "data tip detail list bars bars-canvas bars-sheet overview chips search count theme help help-button help-close"
          .split(" ")
    ) this.elements.set(id, new FakeElement(id === "search" ? "input" : "div"));
    this.get("bars").clientHeight = 500;
    this.get("data").textContent = data;
    this.get("help").hidden = true;
  }

  readonly document: Record<string, unknown> = {
    documentElement: this.root,
    getElementById: (id: string) => this.get(id),
    createElement: (name: string) => new FakeElement(name),
    execCommand: () => this.copied++ >= 0,
    addEventListener: (type: string, listener: (event: unknown) => void) =>
      this.keys.addEventListener(type, listener),
  };

  get(id: string): FakeElement {
    const element = this.elements.get(id);
    if (element === undefined) throw new Error(`Cannot find the element ${id}: the page has none`);
    return element;
  }

  requestAnimationFrame(callback: () => void): number {
    callback();
    return 0;
  }

  setTimeout(callback: () => void): number {
    callback();
    return 0;
  }

  clearTimeout(): void {}
  addEventListener(): void {}

  getComputedStyle(): { getPropertyValue(name: string): string } {
    return { getPropertyValue: (name) => ` colour of ${name}` };
  }

  matchMedia(): { matches: boolean; addEventListener(): void } {
    return { matches: this.isDark, addEventListener: () => {} };
  }

  /** Presses a key. */
  press(key: string, target: FakeElement = this.get("list")): void {
    this.keys.emit("keydown", { key, target });
  }
}
