/**
 * The little of a browser that the page uses, as types: the sources of the library are checked where there is no browser. The
 * page's functions are given the window, so nothing of it is taken from the air.
 */

/** Something that happens. */
export interface PageEvent {
  readonly key: string;
  readonly target: unknown;
  readonly clientX: number;
  readonly clientY: number;
  readonly deltaX: number;
  readonly deltaY: number;
  readonly pointerId: number;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
  preventDefault(): void;
}

/** An element. */
export interface PageElement {
  textContent: string | null;
  className: string;
  id: string;
  title: string;
  hidden: boolean;
  value: string;
  scrollTop: number;
  tabIndex: number;
  readonly lastElementChild: PageElement | null;
  readonly clientWidth: number;
  readonly clientHeight: number;
  readonly style: { [property: string]: string };
  readonly dataset: { [name: string]: string | undefined };
  readonly classList: { toggle(name: string, isOn?: boolean): boolean };
  append(...children: (PageElement | string)[]): void;
  replaceChildren(...children: (PageElement | string)[]): void;
  remove(): void;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  addEventListener(type: string, listener: (event: PageEvent) => void, options?: { passive?: boolean }): void;
  focus(options?: { preventScroll?: boolean }): void;
  select(): void;
  setPointerCapture(pointerId: number): void;
  getBoundingClientRect(): {
    readonly left: number;
    readonly top: number;
    readonly width: number;
    readonly height: number;
  };
  closest(selector: string): PageElement | null;
}

/** What draws. */
export interface PageContext {
  fillStyle: unknown;
  strokeStyle: unknown;
  lineWidth: number;
  globalAlpha: number;
  font: string;
  textBaseline: string;
  textAlign: string;
  setTransform(a: number, b: number, c: number, d: number, e: number, f: number): void;
  clearRect(x: number, y: number, width: number, height: number): void;
  fillRect(x: number, y: number, width: number, height: number): void;
  strokeRect(x: number, y: number, width: number, height: number): void;
  beginPath(): void;
  roundRect(x: number, y: number, width: number, height: number, radius: number): void;
  rect(x: number, y: number, width: number, height: number): void;
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  arc(x: number, y: number, radius: number, from: number, to: number): void;
  closePath(): void;
  fill(): void;
  stroke(): void;
  clip(): void;
  save(): void;
  restore(): void;
  setLineDash(pattern: number[]): void;
  fillText(text: string, x: number, y: number): void;
  measureText(text: string): { readonly width: number };
}

/** A canvas. */
export interface PageCanvas extends PageElement {
  width: number;
  height: number;
  getContext(kind: "2d"): PageContext;
}

/** The document. */
export interface PageDocument {
  readonly documentElement: PageElement;
  getElementById(id: string): PageElement | null;
  createElement(name: string): PageElement;
  execCommand(command: "copy"): boolean;
  addEventListener(type: string, listener: (event: PageEvent) => void): void;
}

/** The window. */
export interface PageWindow {
  readonly document: PageDocument;
  readonly devicePixelRatio: number;
  requestAnimationFrame(callback: () => void): number;
  setTimeout(callback: () => void, delayMs: number): number;
  clearTimeout(handle: number | undefined): void;
  getComputedStyle(element: PageElement): { getPropertyValue(name: string): string };
  matchMedia(query: string): {
    readonly matches: boolean;
    addEventListener(type: "change", listener: () => void): void;
  };
  addEventListener(type: string, listener: (event: PageEvent) => void): void;
}
