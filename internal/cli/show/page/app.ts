/** The page: puts its parts together, and knows what is chosen, what is left out, and what keys do. */

import type { createBarShapes, Palette } from "./bar_shapes.ts";
import type { createBars } from "./bars.ts";
import type { LANES, PageData, PageRow, readPageData, ROLES, STATES } from "./data.ts";
import type { createDetail } from "./detail.ts";
import type { PageCanvas, PageElement, PageEvent, PageWindow } from "./dom.ts";
import type { filterPage, placeOfRow } from "./filter.ts";
import type { createList } from "./list.ts";
import type { createOverview } from "./overview.ts";
import type { createTimeScale } from "./time_scale.ts";
import type { createWords } from "./words.ts";

/** The functions that the page is made of. */
export interface PageParts {
  readonly names: {
    readonly lanes: typeof LANES;
    readonly roles: typeof ROLES;
    readonly states: typeof STATES;
  };
  readonly readPageData: typeof readPageData;
  readonly filterPage: typeof filterPage;
  readonly placeOfRow: typeof placeOfRow;
  readonly createTimeScale: typeof createTimeScale;
  readonly createWords: typeof createWords;
  readonly createBarShapes: typeof createBarShapes;
  readonly createBars: typeof createBars;
  readonly createList: typeof createList;
  readonly createOverview: typeof createOverview;
  readonly createDetail: typeof createDetail;
}

/** Starts the page. */
export function startPage(parts: PageParts, window: PageWindow): void {
  const { document } = window;
  const find = (id: string): PageElement => document.getElementById(id)!;
  const data = JSON.parse(find("data").textContent!) as PageData;
  const model = parts.readPageData(data, parts.names);
  const words = parts.createWords();
  const scale = parts.createTimeScale(data.durationMs);
  const hidden = new Set<string>();
  let text = "";
  let onlyBreaks = false;
  let selection = parts.filterPage(model, { text, hidden, onlyBreaks });
  let selected: PageRow | undefined;
  let palette: Palette | undefined;

  /** Colours stand in the style sheet, where light and dark are told apart. */
  function readPalette(): Palette {
    const style = window.getComputedStyle(document.documentElement);
    const names = [
      ...parts.names.states,
      "page",
      "panel",
      "line",
      "text",
      "muted",
      "accent",
      "selected",
      "stderr",
      "process",
    ];
    return (palette ??= Object.fromEntries(
      names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
    ));
  }

  const isProblem = ({ breaks, bar, index }: PageRow): boolean =>
    breaks.length > 0 || bar?.isProblem === true && bar.rows[0] === index;

  const tip = find("tip");
  const detail = parts.createDetail({ window, words, model, pane: find("detail"), onSelect: choose });
  const list = parts.createList({
    window,
    words,
    scroller: find("list"),
    onSelect: (row) => choose(row, false),
    onHover: preview,
  });
  const bars = parts.createBars({
    window,
    words,
    shapes: parts.createBarShapes(),
    scale,
    scroller: find("bars"),
    canvas: find("bars-canvas") as PageCanvas,
    sheet: find("bars-sheet"),
    palette: readPalette,
    onSelect: (row) => choose(model.rows[row]!),
    onHover: (row, said, x, y) => {
      preview(row === undefined ? undefined : model.rows[row]);
      tip.hidden = row === undefined;
      tip.textContent = said;
      tip.style.left = `${x + 14}px`;
      tip.style.top = `${y + 16}px`;
    },
    onMove: move,
  });
  const overview = parts.createOverview({
    window,
    canvas: find("overview") as PageCanvas,
    scale,
    durationMs: data.durationMs,
    palette: readPalette,
    isProblem,
    onMove: move,
  });

  function move(): void {
    bars.draw();
    overview.draw();
  }

  function redraw(): void {
    palette = undefined;
    list.draw();
    move();
  }

  /** Chooses a row: in the list, on the axis, and in the pane. */
  function choose(row: PageRow, isScrolled = true): void {
    selected = row;
    list.select(row, parts.placeOfRow(selection.rows, row.index), isScrolled);
    bars.select(row, true);
    overview.draw();
    detail.show(row, false);
  }

  function preview(row: PageRow | undefined): void {
    if (row === undefined) detail.show(selected, false);
    else detail.show(row, row !== selected);
  }

  function filter(): void {
    selection = parts.filterPage(model, { text, hidden, onlyBreaks });
    list.setRows(selection.rows);
    bars.setBars(selection.bars, selection.rows);
    overview.setRows(selection.rows);
    find("count").textContent = selection.rows.length === model.rows.length
      ? `${model.rows.length} lines`
      : `${selection.rows.length} of ${model.rows.length} lines`;
    if (selected !== undefined) {
      const place = parts.placeOfRow(selection.rows, selected.index);
      list.select(selected, place, selection.rows[place] === selected);
    }
  }

  function addChip(parent: PageElement, className: string, label: string, onToggle: () => boolean): void {
    const chip = document.createElement("button");
    chip.className = `chip ${className}`;
    chip.textContent = label;
    chip.setAttribute("aria-pressed", "true");
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(onToggle()));
      filter();
    });
    parent.append(chip);
  }

  function addChips(): void {
    const chips = find("chips");
    const toggle = (name: string) => (): boolean => {
      if (hidden.delete(name)) return true;
      hidden.add(name);
      return false;
    };
    for (const state of parts.names.states) {
      const count = model.bars.filter((bar) => bar.state === state).length;
      const [word, sign] = words.states[state]!;
      if (count > 0) {
        addChip(chips, state, `${sign} ${count} ${word}`, toggle(state));
      }
    }
    for (const lane of parts.names.lanes) {
      const count = model.rows.filter((row) => row.lane === lane).length;
      const [word, sign] = words.lanes[lane]!;
      if (count > 0) {
        addChip(chips, "lane", `${sign} ${count} ${word}`, toggle(lane));
      }
    }
    const broken = model.rows.filter(({ breaks }) => breaks.length > 0).length;
    if (broken === 0) return;
    addChip(chips, "breaks", `▲ ${broken} break a rule`, () => {
      onlyBreaks = !onlyBreaks;
      return onlyBreaks;
    });
    // Pressed means shown for the others, and alone for this one.
    chips.lastElementChild?.setAttribute("aria-pressed", "false");
  }

  function step(count: number): void {
    const { rows } = selection;
    if (rows.length === 0) return;
    const place = selected === undefined ? -1 : parts.placeOfRow(rows, selected.index);
    const isShown = selected !== undefined && rows[place] === selected;
    const next = place + count + (isShown || count < 0 ? 0 : selected === undefined ? 0 : -1);
    choose(rows[Math.min(rows.length - 1, Math.max(0, next))]!);
  }

  function stepToProblem(direction: 1 | -1): void {
    const { rows } = selection;
    const place = selected === undefined
      ? (direction > 0 ? -1 : rows.length)
      : parts.placeOfRow(rows, selected.index);
    for (let at = place + direction; at >= 0 && at < rows.length; at += direction) {
      if (isProblem(rows[at]!)) return choose(rows[at]!);
    }
  }

  /** From a request to its answer and back. */
  function stepToPair(): void {
    const rows = selected?.bar?.rows ?? [];
    const last = rows.at(-1);
    if (selected === undefined || last === undefined) return;
    choose(model.rows[selected.index === last ? rows[0]! : last]!);
  }

  function turnTheme(): void {
    const root = document.documentElement;
    const isDark = root.dataset.theme === undefined
      ? window.matchMedia("(prefers-color-scheme: dark)").matches
      : root.dataset.theme === "dark";
    root.dataset.theme = isDark ? "light" : "dark";
    redraw();
  }

  function turnHelp(isOn = find("help").hidden): void {
    find("help").hidden = !isOn;
  }

  const width = (): number => find("bars").clientWidth;
  const keys: { readonly [key: string]: () => void } = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    j: () => step(1),
    k: () => step(-1),
    PageDown: () => step(list.pageSize()),
    PageUp: () => step(-list.pageSize()),
    Home: () => step(-Infinity),
    End: () => step(Infinity),
    n: () => stepToProblem(1),
    N: () => stepToProblem(-1),
    Enter: stepToPair,
    ArrowRight: () => (scale.pan(width() / 6), move()),
    ArrowLeft: () => (scale.pan(-width() / 6), move()),
    "+": () => (scale.zoom(1.5, width() / 2 + 100), move()),
    "=": () => (scale.zoom(1.5, width() / 2 + 100), move()),
    "-": () => (scale.zoom(1 / 1.5, width() / 2 + 100), move()),
    "0": () => (scale.show(0, Infinity), move()),
    f: () => {
      const { startedAt, endedAt } = selected?.bar ?? { startedAt: 0, endedAt: Infinity };
      const room = (endedAt - startedAt) * 0.2;
      scale.show(startedAt - room, endedAt + room);
      move();
    },
    "/": () => find("search").focus(),
    c: () => detail.copy(),
    t: turnTheme,
    "?": () => turnHelp(),
    Escape: () => turnHelp(false),
  };

  function onKey(event: PageEvent): void {
    const isTyping = event.target === find("search");
    if (isTyping && event.key === "Escape") {
      find("search").value = "";
      text = "";
      filter();
      find("list").focus();
    }
    const isMove = event.key === "ArrowDown" || event.key === "ArrowUp";
    if ((isTyping && !isMove) || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    // A button is pressed by Enter, and a message is read by the keys that move it.
    const tag = (event.target as { tagName?: string }).tagName;
    if ((event.key === "Enter" && tag === "BUTTON") || (tag === "PRE" && event.key !== "Escape")) return;
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (act === undefined) return;
    event.preventDefault();
    act();
  }

  let searching: number | undefined;
  find("search").addEventListener("input", () => {
    window.clearTimeout(searching);
    searching = window.setTimeout(() => {
      text = find("search").value;
      filter();
    }, 80);
  });
  document.addEventListener("keydown", onKey);
  find("theme").addEventListener("click", turnTheme);
  find("help-button").addEventListener("click", () => turnHelp());
  find("help-close").addEventListener("click", () => turnHelp(false));
  window.addEventListener("resize", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addChips();
  filter();
  detail.show(undefined, false);
  const first = model.rows.find(isProblem) ?? model.rows[0];
  if (first !== undefined) choose(first);
  document.documentElement.dataset.ready = "yes";
}
