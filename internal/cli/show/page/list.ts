/** The list of what passed: only the rows that are seen are elements. */

import type { PageRow } from "./data.ts";
import type { PageElement, PageWindow } from "./dom.ts";
import type { PageWords } from "./words.ts";

/** What a list is made of. */
export interface ListParts {
  readonly window: PageWindow;
  readonly words: PageWords;
  /** The element that scrolls. */
  readonly scroller: PageElement;
  readonly onSelect: (row: PageRow) => void;
  /** The row under the cursor, or none. */
  readonly onHover: (row: PageRow | undefined) => void;
}

/** The list. */
export interface PageList {
  /** Shows other rows. */
  setRows(rows: readonly PageRow[]): void;
  /** Marks a row, and scrolls to it if it is not seen. */
  select(row: PageRow | undefined, place: number, isScrolled: boolean): void;
  /** How many rows fit. */
  pageSize(): number;
  /** Draws again, after a change of size. */
  draw(): void;
}

/** Makes a list. */
export function createList({ window, words, scroller, onSelect, onHover }: ListParts): PageList {
  const { document } = window;
  const rowHeight = 24;
  /** So many rows are made above and below what is seen, so that a quick scroll does not show a gap. */
  const spare = 8;
  const sheet = document.createElement("div");
  sheet.className = "sheet";
  scroller.replaceChildren(sheet);
  let rows: readonly PageRow[] = [];
  let selected: PageRow | undefined;
  let isAsked = false;
  const elements = new Map<number, PageElement>();

  function addPart(parent: PageElement, className: string, text: string): void {
    const part = document.createElement("span");
    part.className = className;
    part.textContent = text;
    parent.append(part);
  }

  /** A label is cut where no list is that wide: a line of stderr may be a megabyte long. */
  function makeRow(row: PageRow, place: number): PageElement {
    const element = document.createElement("div");
    const { bar, breaks } = row;
    const isRequest = bar !== undefined && bar.rows[0] === row.index;
    const [word = "", sign = ""] = bar === undefined ? [] : (words.states[bar.state] ?? []);
    element.id = `row-${row.index}`;
    element.className = `row ${row.lane} ${row.role}${isRequest ? ` first ${bar.state}` : ""}`;
    element.dataset.place = String(place);
    element.style.top = `${place * rowHeight}px`;
    element.setAttribute("role", "option");
    element.setAttribute("aria-setsize", String(rows.length));
    element.setAttribute("aria-posinset", String(place + 1));
    addPart(element, "time", words.formatTime(row.t));
    addPart(element, "arrow", words.lanes[row.lane]![1]);
    addPart(element, "label", row.label.slice(0, 500));
    if (breaks.length > 0) addPart(element, "breaks", `▲ ${breaks[0]}`);
    if (isRequest) {
      const isTimed = bar.state !== "lost" && bar.state !== "open" && bar.state !== "stream";
      const took = isTimed ? ` ${words.formatMs(bar.endedAt - bar.startedAt)}` : "";
      addPart(element, `outcome ${bar.state}`, `${sign} ${word}${took}`);
    }
    if (row === selected) mark(element, true);
    return element;
  }

  function mark(element: PageElement, isSelected: boolean): void {
    element.classList.toggle("selected", isSelected);
    element.setAttribute("aria-selected", String(isSelected));
  }

  function drawNow(): void {
    isAsked = false;
    const first = Math.max(0, Math.floor(scroller.scrollTop / rowHeight) - spare);
    const last = Math.min(rows.length, first + Math.ceil(scroller.clientHeight / rowHeight) + 2 * spare);
    for (const [place, element] of elements) {
      if (place >= first && place < last) continue;
      element.remove();
      elements.delete(place);
    }
    for (let place = first; place < last; place++) {
      if (elements.has(place)) continue;
      const element = makeRow(rows[place]!, place);
      elements.set(place, element);
      sheet.append(element);
    }
  }

  function draw(): void {
    if (isAsked) return;
    isAsked = true;
    window.requestAnimationFrame(drawNow);
  }

  function clear(): void {
    for (const element of elements.values()) element.remove();
    elements.clear();
  }

  function rowAt(target: unknown): PageRow | undefined {
    const element = (target as PageElement).closest?.(".row");
    const place = element?.dataset.place;
    return place === undefined ? undefined : rows[Number(place)];
  }

  scroller.addEventListener("scroll", draw, { passive: true });
  scroller.addEventListener("click", ({ target }) => {
    const row = rowAt(target);
    if (row !== undefined) onSelect(row);
  });
  scroller.addEventListener("pointermove", ({ target }) => onHover(rowAt(target)));
  scroller.addEventListener("pointerleave", () => onHover(undefined));

  return {
    setRows(newRows) {
      rows = newRows;
      sheet.style.height = `${rows.length * rowHeight}px`;
      clear();
      draw();
    },
    select(row, place, isScrolled) {
      selected = row;
      for (const [at, element] of elements) mark(element, rows[at] === row);
      if (row === undefined) {
        scroller.removeAttribute("aria-activedescendant");
        return;
      }
      scroller.setAttribute("aria-activedescendant", `row-${row.index}`);
      if (!isScrolled) return;
      const top = place * rowHeight;
      const { scrollTop, clientHeight } = scroller;
      if (top < scrollTop) scroller.scrollTop = top;
      else if (top + rowHeight > scrollTop + clientHeight) {
        scroller.scrollTop = top + rowHeight - clientHeight;
      }
      draw();
    },
    pageSize: () => Math.max(1, Math.floor(scroller.clientHeight / rowHeight) - 1),
    draw,
  };
}
