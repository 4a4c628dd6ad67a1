/** The look of the page, light and dark. */
export const PAGE_STYLE: string = `
:root {
  --page: #f6f6f3; --panel: #ffffff; --line: #e1e0da; --text: #1d1d1a; --muted: #706f68; --accent: #2c6bd6;
  --selected: #e4edfc; --hover: #f1f1ed; --done: #23794f; --failed: #b0600f; --error: #c43030; --cancelled: #757064;
  --lost: #8446be; --open: #2a66bb; --stream: #2a66bb; --stderr: #866711; --process: #6f58b8;
  --json-name: #7a3e9d; --json-text: #2d6a3e; --json-number: #9a5b13; --json-word: #b5413b; --shadow: 0 1px 3px #0000001a;
  color-scheme: light;
}
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) {
  --page: #131312; --panel: #1b1b19; --line: #30302c; --text: #ebeae4; --muted: #98968c; --accent: #6ea3f5;
  --selected: #23334c; --hover: #242422; --done: #4fbf8b; --failed: #eb9a4c; --error: #f07070; --cancelled: #a19c90;
  --lost: #bd8ae8; --open: #77aaf0; --stream: #77aaf0; --stderr: #d4b158; --process: #a897ea;
  --json-name: #c6a0e8; --json-text: #8ccf9f; --json-number: #e2b070; --json-word: #f0908a; --shadow: 0 1px 3px #00000066;
  color-scheme: dark;
} }
:root[data-theme="dark"] {
  --page: #131312; --panel: #1b1b19; --line: #30302c; --text: #ebeae4; --muted: #98968c; --accent: #6ea3f5;
  --selected: #23334c; --hover: #242422; --done: #4fbf8b; --failed: #eb9a4c; --error: #f07070; --cancelled: #a19c90;
  --lost: #bd8ae8; --open: #77aaf0; --stream: #77aaf0; --stderr: #d4b158; --process: #a897ea;
  --json-name: #c6a0e8; --json-text: #8ccf9f; --json-number: #e2b070; --json-word: #f0908a; --shadow: 0 1px 3px #00000066;
  color-scheme: dark;
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html, body { height: 100%; margin: 0; }
body {
  display: grid; grid-template-rows: auto auto 44px minmax(120px, 46fr) minmax(140px, 54fr); gap: 10px; padding: 14px 18px 16px;
  background: var(--page); color: var(--text); font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
.top { display: flex; align-items: baseline; gap: 14px; min-width: 0; }
.top h1 { margin: 0; font-size: 15px; font-weight: 650; white-space: nowrap; }
.top .command {
  flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; color: var(--text);
}
.top .facts { white-space: nowrap; }
.facts { color: var(--muted); font-size: 12.5px; }
button { font: inherit; color: inherit; cursor: pointer; }
.icon {
  width: 28px; height: 28px; padding: 0; border: 1px solid var(--line); border-radius: 7px; background: var(--panel);
  color: var(--muted); align-self: center;
}
.icon:hover { color: var(--text); }
.tools { display: flex; align-items: center; gap: 8px; min-width: 0; }
#chips { display: flex; flex-wrap: wrap; gap: 6px; flex: 1; }
.chip {
  padding: 3px 9px; border: 1px solid var(--line); border-radius: 999px; background: var(--panel); font-size: 12.5px;
  white-space: nowrap; color: var(--text);
}
.chip:hover { border-color: var(--muted); }
.chip[aria-pressed="false"] { background: transparent; color: var(--muted); text-decoration: line-through; opacity: .75; }
.chip.breaks { color: var(--error); text-decoration: none; opacity: 1; }
.chip.breaks[aria-pressed="true"] { background: var(--error); border-color: var(--error); color: var(--panel); }
.chip.done { color: var(--done); } .chip.failed { color: var(--failed); } .chip.error { color: var(--error); }
.chip.cancelled { color: var(--cancelled); } .chip.lost { color: var(--lost); } .chip.open, .chip.stream { color: var(--open); }
.chip[aria-pressed="false"]:not(.breaks) { color: var(--muted); }
#search {
  width: 220px; padding: 5px 11px; border: 1px solid var(--line); border-radius: 8px; background: var(--panel); color: var(--text);
  font: inherit; font-size: 13px;
}
#count { min-width: 64px; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; box-shadow: var(--shadow); overflow: hidden; }
#overview { display: block; width: 100%; height: 42px; cursor: crosshair; touch-action: none; }
#bars { position: relative; overflow-y: auto; overflow-x: hidden; overscroll-behavior: contain; }
#bars-canvas { position: sticky; top: 0; left: 0; display: block; cursor: grab; touch-action: pan-y; }
#bars-canvas:active { cursor: grabbing; }
#bars-sheet { position: absolute; top: 0; left: 0; width: 1px; pointer-events: none; }
.bottom { display: grid; grid-template-columns: minmax(280px, 54fr) minmax(260px, 46fr); gap: 10px; min-height: 0; }
#list { position: relative; overflow-y: auto; overscroll-behavior: contain; }
.sheet { position: relative; }
.row {
  position: absolute; left: 0; right: 0; height: 24px; display: flex; align-items: center; gap: 9px; padding: 0 14px 0 10px;
  border-left: 3px solid transparent; cursor: default; white-space: nowrap;
  font: 12.5px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}
.row:hover { background: var(--hover); }
.row.selected { background: var(--selected); border-left-color: var(--accent); }
.row .time { color: var(--muted); font-variant-numeric: tabular-nums; min-width: 62px; text-align: right; }
.row .arrow { width: 12px; text-align: center; }
.row.client .arrow { color: var(--accent); } .row.server .arrow { color: var(--done); }
.row.stderr .arrow, .row.stderr .label { color: var(--stderr); } .row.process .arrow, .row.process .label { color: var(--process); }
.row .label { overflow: hidden; text-overflow: ellipsis; flex: 0 1 auto; min-width: 40px; }
.row.first .label { font-weight: 600; }
.row.fault .label, .row.answer.error .label, .row.answer.failed .label { color: var(--error); }
.row.progress .label, .row.notification .label { color: var(--muted); }
.row .breaks { color: var(--error); overflow: hidden; text-overflow: ellipsis; flex: 0 1 auto; }
.row .outcome { margin-left: auto; padding-left: 12px; }
.outcome.done { color: var(--done); } .outcome.failed { color: var(--failed); } .outcome.error { color: var(--error); }
.outcome.cancelled { color: var(--cancelled); } .outcome.lost { color: var(--lost); }
.outcome.open, .outcome.stream { color: var(--open); }
#detail { overflow-y: auto; padding: 14px 16px; overscroll-behavior: contain; }
#detail.preview { background: color-mix(in srgb, var(--panel) 92%, var(--accent)); }
#detail h2 {
  margin: 0 0 3px; font: 600 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere;
}
#detail p { margin: 2px 0; overflow-wrap: anywhere; }
#detail .problem { color: var(--error); }
#detail .empty { color: var(--muted); }
.related { display: flex; flex-wrap: wrap; gap: 5px; margin: 10px 0 0; }
.related button { padding: 2px 9px; border: 1px solid var(--line); border-radius: 6px; background: transparent; font-size: 12px; }
.related button:hover { border-color: var(--muted); }
.related button.here { border-color: var(--accent); background: var(--selected); }
.message {
  margin: 12px 0 0; padding: 12px 14px; background: var(--page); border: 1px solid var(--line); border-radius: 8px;
  font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere;
}
.message .name { color: var(--json-name); } .message .text { color: var(--json-text); }
.message .number { color: var(--json-number); } .message .word { color: var(--json-word); }
#tip {
  position: fixed; z-index: 5; max-width: 420px; padding: 6px 10px; background: var(--text); color: var(--panel); border-radius: 7px;
  font-size: 12.5px; white-space: pre-line; pointer-events: none; overflow-wrap: anywhere;
}
#help {
  position: fixed; inset: 0; z-index: 10; display: grid; place-items: center; background: #00000066;
}
#help section { width: min(560px, 92vw); padding: 20px 24px; }
#help h2 { margin: 0 0 12px; font-size: 15px; }
#help dl { display: grid; grid-template-columns: max-content 1fr; gap: 6px 18px; margin: 0 0 16px; font-size: 13px; }
#help dt { color: var(--muted); } #help dd { margin: 0; }
kbd {
  padding: 1px 6px; border: 1px solid var(--line); border-bottom-width: 2px; border-radius: 5px; background: var(--page);
  font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; color: var(--text);
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
textarea { position: fixed; left: -100px; width: 1px; height: 1px; }
@media (max-width: 900px) {
  body { height: auto; grid-template-rows: auto auto 44px 320px auto; }
  .bottom { grid-template-columns: 1fr; grid-auto-rows: 420px; }
  .top { flex-wrap: wrap; } .tools { flex-wrap: wrap; } #search { flex: 1; } #chips { flex-basis: 100%; }
}
`.trim();
