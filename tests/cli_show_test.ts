// `show`: the model of a recording, the terminal, JSON, and the page, whose script is run here as the text that it has in the
// page (L5, L6).
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { readRecording } from "../internal/cli/recording/read_recording.ts";
import { buildModel, countModel, type ShowModel } from "../internal/cli/show/model.ts";
import { formatPage, toPageData } from "../internal/cli/show/page.ts";
import { makePageScript, PAGE_FUNCTIONS, PAGE_NAMES } from "../internal/cli/show/page_script.ts";
import { makeLongRecording, makeSampleRecording } from "./browser/sample_session.ts";
import { runCli } from "./cli_helpers.ts";
import { FakeElement, FakeWindow } from "./cli_page_fakes.ts";
import { bytesOf, IS_FULL } from "./helpers.ts";

const SAMPLE = makeSampleRecording();

function modelOf(text: string): ShowModel {
  const { events, unreadable } = readRecording(bytesOf(text));
  return buildModel(events, unreadable);
}

/** A recording as a file. */
function writeRecording(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "show-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "a.ndjson");
  writeFileSync(path, text);
  return path;
}

test("buildModel() tells how every request ended and which rows belong to it (L5)", () => {
  const model = modelOf(SAMPLE);
  assert.deepEqual(
    model.bars.map(({ method, target, state, rows }) => [`${method} ${target}`.trim(), state, rows.length]),
    [
      ["server/discover", "done", 2],
      ["tools/list", "done", 2],
      ["prompts/list", "done", 2],
      ["subscriptions/listen", "stream", 3],
      ["tools/call get-forecast", "done", 2],
      ["tools/call get-forecast", "done", 2],
      ["tools/call history", "failed", 2],
      ["tools/call measure", "done", 10],
      ["resources/read weather://stations/oslo", "error", 2],
      ["tools/call station-report", "cancelled", 3],
      ["tools/call history", "done", 2],
      ["prompts/list", "done", 2],
      ["tools/list", "done", 2],
      ["tools/call station-report", "lost", 1],
      ["tools/call get-forecast", "done", 2],
    ],
  );
  for (const bar of model.bars) {
    assert.ok(bar.endedAt >= bar.startedAt && bar.rows[0] !== undefined);
    for (const row of bar.rows) assert.equal(model.bars[model.rows[row]!.call], bar);
  }
  const { states, breaks, requests } = countModel(model);
  assert.deepEqual(states, { done: 10, stream: 1, failed: 1, error: 1, cancelled: 1, lost: 1 });
  assert.deepEqual([requests, breaks], [15, 2]);
  assert.deepEqual(
    model.rows.filter((row) => row.breaks.length > 0).map(({ breaks }) => breaks[0]),
    ["text that is no JSON", "progress of a request that was cancelled"],
  );
});

test("buildModel() leaves open what a recording without an end does not tell (L5)", () => {
  const cut = SAMPLE.split("\n").slice(0, 14).join("\n");
  const states = modelOf(cut).bars.map(({ state }) => state);
  assert.ok(states.includes("open") && !states.includes("lost"));
});

test("a server of an older revision that refuses to be discovered is no problem (L5)", async (t) => {
  const lines = [
    { jsonrpc: "2.0", id: 1, method: "server/discover", params: {} },
    { jsonrpc: "2.0", id: 1, error: { code: -32601, message: "Method not found" } },
  ].map((message, index) => JSON.stringify({ from: index === 0 ? "client" : "server", t: index, message }));
  const path = writeRecording(t, lines.join("\n"));
  const { bars } = modelOf(lines.join("\n"));
  assert.deepEqual(bars.map(({ state, isProblem }) => [state, isProblem]), [["error", false]]);
  const breaking = await runCli(["show", path, "--problems"]);
  assert.doesNotMatch(breaking.stdout, /←/);
});

test("readRecording() counts what it cannot read, and reads on (L5)", () => {
  const { events, unreadable } = readRecording(bytesOf(`rubbish\n\n${SAMPLE.slice(0, -20)}`));
  assert.equal(unreadable, 2);
  assert.equal(events.length, SAMPLE.trimEnd().split("\n").length - 1);
});

test("show lists every line, with outcome, duration and what is broken; filters narrow it (L5)", async (t) => {
  const path = writeRecording(t, SAMPLE);
  const all = await runCli(["show", path]);
  assert.equal(all.code, 0);
  assert.match(all.stdout, /\n0\.141 {2}→ tools\/call history {2}! failed 236 ms\n/);
  assert.match(all.stdout, /\n0\.236 {2}← Loaded 12 entities in 4 ms\n +▲ text that is no JSON\n/);
  assert.match(all.stdout, /\n0\.560 {2}→ tools\/call station-report {2}⊘ cancelled 345 ms\n/);
  assert.match(all.stdout, /\n1\.350 {2}→ tools\/call station-report {2}\? unanswered\n/);
  assert.match(all.stdout, /\n1\.380 {2}│ TypeError: /);
  assert.match(all.stdout, /\n1\.980 {2}● the server was ended by SIGKILL\n/);
  assert.match(
    all.stdout,
    /\n15 requests · 10 done · 1 failed · 1 error · 1 cancelled · 1 unanswered · 1 stream · 2 lines break a rule\n$/,
  );
  const lines = async (...args: string[]) =>
    (await runCli(["show", path, ...args])).stdout.split("\n\n")[0]!.split("\n").filter((line) =>
      /^\d/.test(line)
    );
  assert.ok((await lines("--from", "stderr")).every((line) => line.includes("│")));
  assert.equal((await lines("--method", "resources/read")).length, 2);
  assert.equal((await lines("--grep", "LICENCE")).length, 1);
  assert.equal((await lines("--problems")).length, 7);
  assert.equal((await lines("--problems", "--from", "client", "--method", "tools/call")).length, 2);
  const full = await runCli(["show", path, "--grep", "licence", "--full"]);
  assert.match(full.stdout, /\n +"isError": true/);
});

test("show --bars draws a bar for each request on one axis, told apart without colour (L5)", async (t) => {
  const path = writeRecording(t, SAMPLE);
  const { stdout } = await runCli(["show", path, "--bars"], { isTerminal: true, env: { NO_COLOR: "1" } });
  assert.match(stdout, /^ +0 +990 ms +1\.98 s\n/);
  assert.match(stdout, /\ntools\/call history +▓+ +! failed 236 ms\n +the archive needs a licence/);
  assert.match(stdout, /\nsubscriptions\/listen +─{30,} ∞ stream\n/);
  assert.match(stdout, /╌+ \? unanswered\n/);
  const plain = await runCli(["show", path, "--bars"], { env: { LC_ALL: "C" } });
  assert.match(plain.stdout.split("\n\n")[0]!.replaceAll("…", ""), /^[\x20-\x7e\n]*$/);
});

test("show --json gives the model, and --check ends with 1 where there is a problem (L5)", async (t) => {
  const path = writeRecording(t, SAMPLE);
  const { json } = await runCli(["show", path, "--json", "--method", "tools/list"]);
  const { requests, rows, counts, start } = json();
  assert.equal(start.command, "node weather-server.js --region europe");
  assert.deepEqual(requests.map(({ id, state }: { id: unknown; state: string }) => [id, state]), [
    [2, "done"],
    [12, "done"],
  ]);
  assert.equal(rows.length, 4);
  assert.equal(counts.requests, 15);
  assert.equal((await runCli(["show", path, "--check"])).code, 1);
  const good = SAMPLE.split("\n").slice(0, 8).join("\n");
  assert.equal((await runCli(["show", writeRecording(t, good), "--check"])).code, 0);
});

test("show says what is no recording, and shows one that is cut (L5)", async (t) => {
  for (
    const [path, message] of [
      ["/no/such/file", /Cannot show "\/no\/such\/file": there is no such file/],
      [writeRecording(t, ""), /it is no recording/],
      [writeRecording(t, "rubbish\nmore\n"), /it is no recording/],
    ] as const
  ) {
    const { code, stderr } = await runCli(["show", path]);
    assert.equal(code, 2);
    assert.match(stderr, message);
  }
  const cut = await runCli(["show", writeRecording(t, SAMPLE.slice(0, -20))]);
  assert.equal(cut.code, 0);
  assert.match(cut.stderr, /warning: 1 line is no event and left out\n/);
});

test("what a recording kept of secrets is masked when it is shown, and control characters never reach a terminal (L6)", async (t) => {
  const line = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "x\x1b[2J",
    params: { password: "hunter22" },
  });
  const text =
    `{"kind":"start","t":0,"recording":1,"at":"","by":"","command":"x\u202e","pid":1,"masked":false}\n` +
    `{"from":"client","t":1,"message":${line}}\n{"from":"stderr","t":2,"text":"token=topsecret \\u001b[31m"}\n`;
  const path = writeRecording(t, text);
  const out = join(path, "../a.html");
  const masked = await runCli(["show", path, "--full", "--html", out]);
  const shown = await runCli(["show", path, "--full"]);
  for (const part of [readFileSync(out, "utf8"), shown.stdout]) {
    assert.doesNotMatch(part, /hunter22|topsecret/);
    // deno-lint-ignore no-control-regex -- none of them may be there
    assert.doesNotMatch(part, /[\x00-\x08\x0b-\x1f\u202e]/);
  }
  assert.equal(masked.code, 0);
  if (process.platform !== "win32") assert.equal(statSync(out).mode & 0o777, 0o600);
  assert.match((await runCli(["show", path, "--full", "--keep-secrets"])).stdout, /hunter22/);
});

test("the page asks nobody for anything, and text of a recording gets into it as data alone (L5)", async () => {
  const evil = `</script><script>alert(1)</script><img src=x onerror=alert(1)> "&' \u2028`;
  const message = JSON.stringify({
    jsonrpc: "2.0",
    id: evil,
    method: evil,
    params: { name: evil, uri: evil },
  });
  const text =
    `{"kind":"start","t":0,"recording":1,"at":"","by":"","command":${
      JSON.stringify(evil)
    },"pid":1,"masked":true}\n` +
    `{"from":"client","t":1,"message":${message}}\n{"from":"server","t":2,"text":${JSON.stringify(evil)}}\n`;
  const page = await formatPage(modelOf(text));
  assert.match(
    page,
    /Content-Security-Policy" content="default-src 'none'; script-src 'sha256-[\w+/]+='; style-src 'sha256-[\w+/]+='; img-src data:; base-uri 'none'; form-action 'none'"/,
  );
  assert.deepEqual(
    [...page.matchAll(/<(script|img|link|iframe|object|embed|base|form)\b[^>]*>/g)].map(([tag]) => tag),
    [
      '<link rel="icon" href="data:,">',
      '<script type="application/json" id="data">',
      "<script>",
    ],
  );
  assert.doesNotMatch(
    page,
    /https?:\/\/(?!modelcontextprotocol)|\bfetch\(|XMLHttpRequest|import\(|WebSocket|sendBeacon/,
  );
  const data = /id="data">([^<]*)<\/script>/.exec(page)![1]!;
  assert.equal(JSON.parse(data).rows.text[1], evil);
});

/** The functions of the page, each made anew from its own text: it can use nothing but its arguments and what every browser has. */
const PAGE = Object.fromEntries(
  Object.entries(PAGE_FUNCTIONS).map((
    [name, part],
  ) => [name, new Function(`"use strict"; return (${part.toString()});`)()]),
) as typeof PAGE_FUNCTIONS;

test("the page's time scale zooms and moves within the recording, with marks that can be read (L5)", () => {
  const scale = PAGE.createTimeScale(1_000);
  scale.resize(100, 500);
  assert.deepEqual([scale.from, scale.to], [0, 1_020]);
  scale.zoom(2, 350);
  assert.deepEqual([scale.from, scale.to], [255, 765]);
  assert.equal(scale.toTime(scale.toX(333)), 333);
  scale.pan(-10_000);
  assert.equal(scale.from, 0);
  scale.pan(10_000);
  assert.equal(scale.to, 1_020);
  scale.zoom(1e9, 100);
  assert.ok(scale.to - scale.from > 0.009);
  scale.show(0, Infinity);
  assert.deepEqual(scale.ticks().map(({ text }) => text), ["0 ms", "500 ms", "1.0 s"]);
  scale.show(400, 400.5);
  assert.ok(scale.ticks().length >= 2 && scale.ticks().every(({ t }) => t >= 400 && t <= 400.5));
  scale.reveal(900, 950);
  assert.ok(scale.from <= 900 && scale.to >= 950);
  assert.deepEqual(PAGE.createTimeScale(0).ticks().length > 0, true);
});

test("the page's filter searches fifty thousand messages, takes text as text, and keeps the requests of what is found (L5)", () => {
  const data = toPageData(modelOf(makeLongRecording(2_000)));
  const model = PAGE.readPageData(JSON.parse(JSON.stringify(data)), PAGE_NAMES);
  const find = (text: string, hidden: string[] = [], onlyBreaks = false) =>
    PAGE.filterPage(model, { text, hidden: new Set(hidden), onlyBreaks });
  assert.equal(find("").rows.length, model.rows.length);
  const found = find('  City 97" ');
  assert.ok(found.rows.length > 0 && found.rows.every(({ text }) => text.includes('city 97"')));
  assert.ok(found.bars.every((bar) => found.rows.some((row) => row.bar === bar)));
  assert.equal(find(".*(").rows.length, 0);
  assert.ok(find("", ["done"]).rows.every(({ bar }) => bar?.state !== "done"));
  assert.ok(find("", ["client", "server"]).rows.every(({ lane }) => lane === "stderr" || lane === "process"));
  assert.equal(find("", [], true).rows.length, 0);
  const { rows } = find("city 5");
  for (const [place, row] of rows.entries()) assert.equal(PAGE.placeOfRow(rows, row.index), place);
  assert.equal(PAGE.placeOfRow(rows, -1), 0);
});

/** Runs the page's script as it stands in the page. */
function openPage(text: string): FakeWindow {
  const window = new FakeWindow(JSON.stringify(toPageData(modelOf(text))));
  new Function("window", "TextEncoder", makePageScript())(window, TextEncoder);
  return window;
}

test("the page opens with its first problem chosen, everywhere at once (L5)", () => {
  const page = openPage(SAMPLE);
  assert.equal(page.root.dataset.ready, "yes");
  assert.equal(page.get("count").textContent, "50 lines");
  const [selected] = page.get("list").all("selected");
  assert.match(selected!.textContent, /tools\/call history! failed 236 ms/);
  assert.equal(page.get("list").attributes["aria-activedescendant"], selected!.id);
  assert.match(
    page.get("detail").textContent,
    /^tools\/call history→ from the client.*! failed in 236 ms, id 7the archive needs/,
  );
  assert.match(page.get("detail").textContent, /"api_key": "…"/);
  const canvas = page.get("bars-canvas");
  assert.ok(canvas.drawn.some((call) => call.startsWith("fillText(history,")));
  assert.ok(canvas.drawn.some((call) => call.startsWith("setLineDash(3,3")));
  assert.deepEqual(page.get("chips").children.map((chip) => chip.textContent), [
    "✓ 10 done",
    "! 1 failed",
    "✗ 1 error",
    "⊘ 1 cancelled",
    "? 1 unanswered",
    "∞ 1 stream",
    "→ 16 client",
    "← 24 server",
    "│ 6 stderr",
    "● 4 process",
    "▲ 2 break a rule",
  ]);
});

test("the page is used by keys alone: lines, problems, the other end of a request, search, theme, help (L5)", () => {
  const page = openPage(SAMPLE);
  const title = () => page.get("detail").all("detail-head")[0]!.children[0]!.textContent;
  const seen = (...keys: string[]) => {
    for (const key of keys) page.press(key);
    return title();
  };
  assert.equal(seen("Home"), "weather-server 2.3.1 listening on stdio");
  assert.equal(seen("ArrowDown"), "server/discover");
  assert.match(page.get("detail").textContent, /from the client/);
  assert.equal(seen("Enter"), "server/discover");
  assert.match(page.get("detail").textContent, /from the server/);
  assert.equal(seen("n"), "tools/call history");
  assert.equal(seen("n"), "Loaded 12 entities in 4 ms");
  assert.equal(seen("N"), "tools/call history");
  assert.equal(seen("End"), "the server was ended by SIGKILL");
  assert.equal(seen("k", "k"), "the server has ended its output");
  page.press("?");
  assert.equal(page.get("help").hidden, false);
  page.press("Escape");
  assert.equal(page.get("help").hidden, true);
  page.press("t");
  assert.equal(page.root.dataset.theme, "dark");
  page.press("c");
  assert.equal(page.copied, 1);
  const search = page.get("search");
  search.value = "oslo";
  search.emit("input");
  assert.equal(page.get("count").textContent, "4 of 50 lines");
  page.press("j", search);
  assert.equal(title(), "the server has ended its output", "a letter in the search is a letter");
  page.press("ArrowDown", search);
  page.press("ArrowUp", search);
  page.press("Escape", search);
  assert.equal(page.get("count").textContent, "50 lines");
});

test("the page is used by the mouse: chips leave out, a line and a bar choose, the one under the cursor is shown (L5)", () => {
  const page = openPage(SAMPLE);
  const title = () => page.get("detail").all("detail-head")[0]!.children[0]!.textContent;
  const chip = (text: string) => page.get("chips").children.find((one) => one.textContent.includes(text))!;
  chip("done").emit("click");
  assert.equal(chip("done").attributes["aria-pressed"], "false");
  assert.ok(page.get("list").all("row").every((row) => !row.className.includes("done")));
  chip("done").emit("click");
  chip("break").emit("click");
  assert.equal(page.get("count").textContent, "2 of 50 lines");
  chip("break").emit("click");
  const row = page.get("list").all("row").find(({ textContent }) => textContent.includes("cache miss")) ??
    page.get("list").all("row")[0]!;
  row.parent!.parent!.emit("click", { target: row });
  const chosen = title();
  assert.ok(row.textContent.includes(chosen));
  const canvas = page.get("bars-canvas");
  // The lanes are above the bars, and each bar is 20 high.
  const barY = (index: number) => 24 + 2 * 20 + 6 + index * 20 + 10;
  canvas.emit("pointermove", { clientX: 500, clientY: barY(1) });
  assert.equal(title(), "tools/list");
  assert.match(page.get("detail").className, /preview/);
  assert.deepEqual([page.get("tip").hidden, page.get("tip").textContent], [
    false,
    "tools/list \n✓ done 8.00 ms",
  ]);
  canvas.emit("pointerleave");
  assert.equal(title(), chosen);
  canvas.emit("pointerdown", { clientX: 500, clientY: barY(2) });
  canvas.emit("pointerup", { clientX: 500, clientY: barY(2) });
  assert.equal(title(), "prompts/list");
  const before = canvas.drawn.join();
  page.get("bars").emit("wheel", { ctrlKey: true, deltaY: -400, deltaX: 0, clientX: 600, clientY: 100 });
  assert.notEqual(canvas.drawn.join(), before);
});

test("the page makes elements of what is seen alone, of fifty thousand messages too (L5)", () => {
  const messages = IS_FULL ? 50_000 : 5_000;
  const page = openPage(makeLongRecording(messages));
  const list = page.get("list");
  assert.ok(list.all("row").length < 40);
  assert.ok(Number.parseInt(list.children[0]!.style.height!) > messages * 24);
  list.scrollTop = messages * 12;
  list.emit("scroll");
  assert.ok(list.all("row").length < 60);
  assert.ok(list.all("row").some(({ dataset }) => dataset.place === String(messages / 2)));
  // A mark for each line of stderr is drawn at most, and the bars that are seen.
  assert.ok(page.get("bars-canvas").drawn.length < messages / 5 + 600);
});

test("the page's parts are text that any runtime gives back, and hold no end of a script (L5)", () => {
  const script = makePageScript();
  assert.doesNotMatch(script, /<\/script|<!--|\bimport\b|\brequire\(/);
  assert.ok(script.length < 80_000, `${script.length} characters`);
  assert.ok(new FakeElement("div").all("x").length === 0);
});
