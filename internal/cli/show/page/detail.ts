/** What passed in one row: the message, what it belongs to, and what is wrong with it. */

import type { PageModel, PageRow } from "./data.ts";
import type { PageElement, PageWindow } from "./dom.ts";
import type { PageWords } from "./words.ts";

/** What the pane is made of. */
export interface DetailParts {
  readonly window: PageWindow;
  readonly words: PageWords;
  readonly model: PageModel;
  readonly pane: PageElement;
  readonly onSelect: (row: PageRow) => void;
}

/** The pane. */
export interface PageDetail {
  /** Shows a row; a preview is one that was not chosen, only passed over. */
  show(row: PageRow | undefined, isPreview: boolean): void;
  /** Copies what the row holds. */
  copy(): void;
}

/** Makes the pane. */
export function createDetail({ window, words, model, pane, onSelect }: DetailParts): PageDetail {
  const { document } = window;
  /** Longer than this a message is shown without colours, and longer than that in part. */
  const mostColoured = 200_000;
  const mostShown = 1_000_000;
  let shown: PageRow | undefined;

  function make(name: string, className: string, text = ""): PageElement {
    const element = document.createElement(name);
    element.className = className;
    element.textContent = text;
    return element;
  }

  function head(row: PageRow): PageElement {
    const element = make("header", "detail-head");
    const title = make("h2", "", row.label.slice(0, 300));
    const [lane = "", arrow = ""] = words.lanes[row.lane] ?? [];
    const facts = [
      `${arrow} from the ${lane}`,
      `at ${words.formatTime(row.t)} s`,
      ...(row.text === "" || row.role === "process"
        ? []
        : [words.formatBytes(new TextEncoder().encode(row.text).length)]),
    ];
    element.append(title, make("p", "facts", facts.join("  ·  ")));
    const { bar } = row;
    if (bar !== undefined) {
      const [word = "", sign = ""] = words.states[bar.state] ?? [];
      const line = make("p", "facts");
      const took = words.formatMs(bar.endedAt - bar.startedAt);
      line.append(
        make("span", `outcome ${bar.state}`, `${sign} ${word}`),
        ` ${bar.state === "lost" || bar.state === "open" ? "for" : "in"} ${took}, id ${bar.id}`,
      );
      element.append(line);
      if (bar.problem !== "") {
        element.append(make("p", "problem", bar.problem.slice(0, 2_000)));
      }
    }
    for (const problem of row.breaks) {
      element.append(make("p", "problem", `▲ ${problem}`));
    }
    return element;
  }

  /** The other rows of the same request. */
  function related(row: PageRow): PageElement | undefined {
    const places = row.bar?.rows ?? [];
    if (places.length < 2) return undefined;
    const list = make("nav", "related");
    list.setAttribute("aria-label", "the same request");
    // Progress may come thousands of times.
    const near = places.length <= 40 ? places : [
      ...places.slice(0, 20),
      ...places.slice(20).filter((at) => at === row.index),
      ...places.slice(-19),
    ];
    for (const at of near) {
      const other = model.rows[at]!;
      const button = make(
        "button",
        other === row ? "here" : "",
        `${words.lanes[other.lane]![1]} ${other.role}`,
      );
      button.title = `${words.formatTime(other.t)} s`;
      button.addEventListener("click", () => onSelect(other));
      list.append(button);
    }
    if (near.length < places.length) {
      list.append(make("span", "facts", `and ${places.length - near.length} more`));
    }
    return list;
  }

  function body(row: PageRow): PageElement {
    const element = make("pre", "message");
    element.tabIndex = 0;
    const text = pretty(row.text);
    if (text.length > mostShown) {
      element.textContent = text.slice(0, mostShown);
      element.append(
        make("p", "facts", `… and ${text.length - mostShown} more characters; the copy has all`),
      );
    } else if (text.length > mostColoured) element.textContent = text;
    else colour(element, text);
    return element;
  }

  function pretty(text: string): string {
    if (text.length > mostShown) return text;
    try {
      return JSON.stringify(JSON.parse(text), undefined, 2);
    } catch {
      return text; // What is no JSON is shown as it came.
    }
  }

  /** Names, texts, numbers and words of JSON in colours of their own. */
  function colour(element: PageElement, text: string): void {
    const pattern = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b(?:true|false|null)\b/g;
    let done = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const [whole, literal, colon] = match;
      const kind = literal === undefined
        ? /^[-\d]/.test(whole) ? "number" : "word"
        : colon === undefined
        ? "text"
        : "name";
      element.append(text.slice(done, match.index), make("span", kind, literal ?? whole), colon ?? "");
      done = match.index + whole.length;
    }
    element.append(text.slice(done));
  }

  return {
    show(row, isPreview) {
      pane.classList.toggle("preview", isPreview);
      if (row === shown) return;
      shown = row;
      if (row === undefined) {
        pane.replaceChildren(
          make("p", "empty", "Nothing is chosen: click a bar or a line, or go through them with ↓ and ↑."),
        );
        return;
      }
      const parts = [head(row), related(row), row.role === "process" ? undefined : body(row)];
      pane.replaceChildren(...parts.filter((part) => part !== undefined));
      pane.scrollTop = 0;
    },
    copy() {
      if (shown === undefined) return;
      // A page from a file may not use the clipboard by itself, but may copy what is marked.
      const area = document.createElement("textarea");
      area.value = shown.text;
      pane.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    },
  };
}
