/**
 * A recording as one HTML file: data, style and script are in it, and its policy lets it ask nobody for anything. Text from the
 * recording gets into it as data alone.
 */

import { escapeMarkup, showLine } from "../shown_text.ts";
import type { ShowModel } from "./model.ts";
import { makePageScript, PAGE_NAMES } from "./page_script.ts";
import { PAGE_STYLE } from "./page_style.ts";
import type { PageData } from "./page/data.ts";
import { createWords } from "./page/words.ts";

const { formatMs } = createWords();

/** Makes the page. */
export async function formatPage(model: ShowModel): Promise<string> {
  const data = toPageData(model);
  const script = `\n${makePageScript()}\n`;
  const style = `\n${PAGE_STYLE}\n`;
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${await hash(script)}'`,
    `style-src 'sha256-${await hash(style)}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const title = escapeMarkup(`${data.command} · mcp-stdio`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<header class="top">
  <h1>mcp-stdio recording</h1>
  <span class="command" title="${escapeMarkup(data.command)}">${escapeMarkup(data.command)}</span>
  <span class="facts">${escapeMarkup(factsOf(data))}</span>
  <button class="icon" id="theme" title="light or dark (t)" aria-label="light or dark">◐</button>
  <button class="icon" id="help-button" title="keys (?)" aria-label="keys">?</button>
</header>
<div class="tools" role="toolbar" aria-label="what is shown">
  <div id="chips"></div>
  <input id="search" type="search" placeholder="search messages  /" aria-label="search messages" autocomplete="off" spellcheck="false">
  <span class="facts" id="count" aria-live="polite"></span>
</div>
<div class="panel"><canvas id="overview" role="img" aria-label="how much passed when"></canvas></div>
<div class="panel" id="bars"><canvas id="bars-canvas" role="img" aria-label="${
    escapeMarkup(
      summaryOf(data),
    )
  }"></canvas><div id="bars-sheet"></div></div>
<main class="bottom">
  <div class="panel" id="list" role="listbox" tabindex="0" aria-label="everything that passed"></div>
  <div class="panel" id="detail" tabindex="-1" aria-label="the message"></div>
</main>
<div id="tip" hidden></div>
<div id="help" role="dialog" aria-label="keys" hidden><section class="panel">${HELP}<button class="chip" id="help-close">close</button></section></div>
<script type="application/json" id="data">${escapeScript(JSON.stringify(data))}</script>
<script>${script}</script>
</body>
</html>
`;
}

const HELP = `<h2>Keys and mouse</h2><dl>
<dt><kbd>↓</kbd> <kbd>↑</kbd> <kbd>j</kbd> <kbd>k</kbd></dt><dd>next line, line before</dd>
<dt><kbd>n</kbd> <kbd>N</kbd></dt><dd>next problem, problem before</dd>
<dt><kbd>Enter</kbd></dt><dd>from a request to its end, and back</dd>
<dt><kbd>←</kbd> <kbd>→</kbd> or drag</dt><dd>move in time</dd>
<dt><kbd>+</kbd> <kbd>-</kbd> or Ctrl and wheel</dt><dd>zoom</dd>
<dt><kbd>f</kbd> <kbd>0</kbd></dt><dd>zoom to the request, show all</dd>
<dt><kbd>/</kbd> <kbd>Esc</kbd></dt><dd>search, search no more</dd>
<dt><kbd>c</kbd> <kbd>t</kbd></dt><dd>copy the message, light or dark</dd>
</dl>`;

/** Rows and bars as columns. */
export function toPageData({ start, durationMs, rows, bars, unreadable }: ShowModel): PageData {
  const { lanes, roles, states } = PAGE_NAMES;
  const breaks = rows.flatMap((row, index) => row.breaks.length === 0 ? [] : [[index, row.breaks] as const]);
  return {
    command: showLine(start?.command ?? "a recording without a beginning", 500),
    at: start?.at ?? "",
    by: start?.by ?? "",
    durationMs,
    isMasked: rows.some(({ isMasked }) => isMasked),
    unreadable,
    rows: {
      t: rows.map(({ t }) => t),
      lane: rows.map(({ lane }) => lanes.indexOf(lane)).join(""),
      role: rows.map(({ role }) => roles.indexOf(role)).join(""),
      label: rows.map(({ label }) => showLine(label, 500)),
      text: rows.map(({ text }) => text),
      call: rows.map(({ call }) => call),
      breaks: Object.fromEntries(breaks),
    },
    bars: {
      from: bars.map(({ from }) => (from === "client" ? 0 : 1)).join(""),
      id: bars.map(({ id }) => id),
      method: bars.map(({ method }) => showLine(method, 200)),
      target: bars.map(({ target }) => showLine(target, 200)),
      state: bars.map(({ state }) => states.indexOf(state)).join(""),
      startedAt: bars.map(({ startedAt }) => startedAt),
      endedAt: bars.map(({ endedAt }) => endedAt),
      problem: bars.map(({ problem }) => showLine(problem, 2_000)),
      isProblem: bars.map(({ isProblem }) => isProblem ? 1 : 0).join(""),
      rows: bars.map(({ rows }) => rows),
    },
  };
}

function factsOf({ at, durationMs, isMasked }: PageData): string {
  const facts = [at.replace("T", " ").replace(/\.\d+Z$/, " UTC"), formatMs(durationMs)];
  if (isMasked) facts.push("secrets masked");
  return facts.filter((fact) => fact !== "").join(" · ");
}

function summaryOf({ bars, durationMs }: PageData): string {
  return `${bars.method.length} requests in ${formatMs(durationMs)}; the list below has all of them`;
}

async function hash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return btoa(String.fromCharCode(...new Uint8Array(digest)));
}

/** JSON in which no tag can end the element that it stands in. */
function escapeScript(json: string): string {
  return json.replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
