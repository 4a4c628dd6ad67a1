// The parts of `doctor` that decide without a server: lines, looks, verdicts, schemas, which tool may be called.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Check, Trial } from "../internal/cli/doctor/check.ts";
import type { Examined } from "../internal/cli/doctor/examination.ts";
import { newFacts } from "../internal/cli/doctor/facts.ts";
import { lookOf } from "../internal/cli/doctor/line_look.ts";
import type { ToolPolicy } from "../internal/cli/doctor/options.ts";
import { placeIn } from "../internal/cli/doctor/place.ts";
import { judgeLine, LineCutter, type RawLine } from "../internal/cli/doctor/raw_line.ts";
import { judgeSchema } from "../internal/cli/doctor/schemas/meta_schemas.ts";
import { notificationProblems, resultProblems } from "../internal/cli/doctor/schemas/result_schemas.ts";
import { reportJUnit } from "../internal/cli/doctor/report_junit.ts";
import { isSelected } from "../internal/cli/doctor/selection.ts";
import { show } from "../internal/cli/doctor/shown.ts";
import { firstThing } from "../internal/cli/doctor/summary.ts";
import { CATALOGUE } from "../internal/cli/doctor/table.ts";
import {
  breakArguments,
  chooseTool,
  makeArguments,
  mayBeCalled,
} from "../internal/cli/doctor/tool_choice.ts";
import { bounded, fail, note, pass, unknown, warn, worstOf } from "../internal/cli/doctor/verdict.ts";
import { bytesOf, everyCut, textOf } from "./helpers.ts";

const PLACE = { index: 0, at: 0, sentBefore: 0, check: "X" };

function lineOf(...parts: ReadonlyArray<string | readonly number[]>): RawLine {
  return judgeLine(bytesOf(...parts), PLACE);
}

test("LineCutter cuts at LF alone, however the bytes are cut", () => {
  const bytes = bytesOf('{"a":"é😀\u2028"}\r\n\n{"b":1}\n{"half');
  for (const chunks of everyCut(bytes)) {
    const cutter = new LineCutter();
    const lines = chunks.flatMap((chunk) => cutter.push(chunk)).map(textOf);
    assert.deepEqual(lines, ['{"a":"é😀\u2028"}\r', "", '{"b":1}']);
    assert.equal(textOf(cutter.rest), '{"half');
  }
});

for (
  const [text, kind] of [
    ['{"jsonrpc":"2.0","id":1,"result":{}}', "result"],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}', "error"],
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}', "request"],
    ['{"jsonrpc":"2.0","method":"x"}', "notification"],
    ['[{"jsonrpc":"2.0","id":1,"result":{}}]', "batch"],
    [" \t\r", "blank"],
    ["hello", "stray"],
    ['{"jsonrpc":"1.0","id":1,"result":{}}', "stray"],
    ['{"jsonrpc":"2.0","id":1}', "stray"],
    ['{"jsonrpc":"2.0","id":1,"method":5}', "stray"],
    ["42", "stray"],
  ] as const
) {
  test(`judgeLine() takes ${text.trim() || "blanks"} for ${kind} (OUT-01)`, () => {
    assert.equal(lineOf(text).kind, kind);
  });
}

test("judgeLine() finds faults of the bytes, and the message all the same (OUT-02, OUT-03, OUT-04, OUT-17, OUT-18)", () => {
  const message = '{"jsonrpc":"2.0","id":1,"result":{}}';
  const faultsOf = (line: RawLine) => [line.kind, ...line.faults];
  assert.deepEqual(faultsOf(lineOf(message)), ["result"]);
  assert.deepEqual(faultsOf(lineOf(message, [0x0d])), ["result", "cr"]);
  assert.deepEqual(faultsOf(lineOf([0xef, 0xbb, 0xbf], message)), ["result", "bom"]);
  assert.deepEqual(faultsOf(lineOf('{"jsonrpc":"2.0","id":"', [0xe9], '","result":{}}')), [
    "result",
    "not_utf8",
  ]);
  assert.deepEqual(faultsOf(lineOf(message.replaceAll(",", `,${" ".repeat(20)}`))), ["result", "loose"]);
  assert.deepEqual(faultsOf(lineOf(message.replace("1", '"\\ud83d"'))), ["result", "surrogate"]);
  assert.deepEqual(faultsOf(lineOf(message.replace("1", '"\\ud83d\\ude00"'))), ["result"]);
});

test("lookOf() tells what was written instead of a message, and how to mend it (OUT-01)", () => {
  const looks = [
    ["Server started", "text"],
    ["\x1b[32minfo\x1b[0m up", "text with colour codes"],
    ["Content-Length: 40", "Content-Length framing"],
    ["{", "a JSON object over several lines"],
    ["    at main (server.js:10:3)", "a stack trace"],
    ["TypeError: x is not a function", "a stack trace"],
    ["{'jsonrpc': '2.0'}", "an object that was printed, not serialised"],
  ] as const;
  for (const [text, what] of looks) {
    const look = lookOf(bytesOf(text));
    assert.equal(look.what, what);
    assert.notEqual(look.mend, "");
  }
});

test("bounded() lets no check say more than its level, unless the server has ended", () => {
  assert.equal(bounded(fail("x"), "MUST").verdict, "fail");
  assert.equal(bounded(fail("x"), "SHOULD").verdict, "warn");
  assert.equal(bounded(fail("x"), "ADVICE").verdict, "note");
  assert.equal(bounded(note("x"), "MUST").verdict, "note");
  assert.equal(bounded(unknown("x"), "ADVICE").verdict, "unknown");
  assert.equal(bounded(fail("x"), "ADVICE", "warn").verdict, "warn");
  assert.equal(bounded({ ...fail("x"), ended: true }, "SHOULD").verdict, "fail");
  assert.equal(bounded({ ...fail("x"), ended: true }, "ADVICE").verdict, "warn");
});

test("worstOf() gives the worst with the evidence of its like, and passes when nothing was found", () => {
  const found = worstOf([note("a"), fail("b", { got: "1" }), fail("c", { got: "2" }), warn("d")], pass(""));
  assert.deepEqual(found, { verdict: "fail", summary: "b; c", evidence: [{ got: "1" }, { got: "2" }] });
  assert.equal(worstOf([], pass("none")).summary, "none");
});

test("show() leaves no control character, no secret and no more than it may", () => {
  assert.equal(show("a\x1b[31m\n\r\u2028"), "a\\u001b[31m⏎␍\\u2028");
  assert.equal(show("x".repeat(500)), `${"x".repeat(160)}…`);
  assert.equal(show(bytesOf("caf", [0xe9])), "caf\\xe9");
  assert.ok(!show('{"api_key":"sk-abcDEF1234567890abcdef"}').includes("1234567890"));
});

test("isSelected() knows ids, groups, beginnings and patterns", () => {
  const check = { id: "END-01", group: "end" } as const;
  for (const pattern of ["END-01", "end-01", "end", "END", "END-*", "*"]) {
    assert.ok(isSelected(check, [pattern], []), pattern);
  }
  for (const pattern of ["END-02", "REQ", "END-0"]) assert.ok(!isSelected(check, [pattern], []), pattern);
  assert.ok(!isSelected(check, [], ["END-*"]));
});

test("placeIn() names the page of the revision that holds", () => {
  const stdio = { page: "basic/transports/stdio", heading: "Shutdown" };
  const base = "https://modelcontextprotocol.io/specification";
  assert.equal(
    placeIn(stdio, { modern: true, version: "2026-07-28" }).url,
    `${base}/2026-07-28/basic/transports/stdio`,
  );
  assert.equal(
    placeIn(stdio, { modern: false, version: "2025-06-18" }).url,
    `${base}/2025-06-18/basic/transports`,
  );
  assert.equal(placeIn({ page: "advice" }, undefined).url, null);
  assert.equal(placeIn({ page: "2025-03-26 basic/index" }, undefined).url, `${base}/2025-03-26/basic`);
});

test("judgeSchema() validates against the dialect that is named, 2020-12 without a name (LIST-03)", async () => {
  const verdictOf = async (schema: { [key: string]: unknown }, old = false) =>
    (await judgeSchema(schema, { old })).kind;
  assert.equal(
    await verdictOf({ type: "object", properties: { a: { type: "string", minLength: 1 } } }),
    "valid",
  );
  assert.equal(await verdictOf({ type: "object", properties: { a: { type: "objekt" } } }), "invalid");
  assert.equal(await verdictOf({ type: "object", required: "a" }), "invalid");
  assert.equal(await verdictOf({ type: "object", properties: { a: { minimum: "1" } } }), "invalid");
  assert.equal(await verdictOf({ type: "object", $defs: { a: { anyOf: [] } } }), "invalid");
  const list = { type: "object", properties: { a: { type: "array", items: [{ type: "string" }] } } };
  assert.equal(await verdictOf(list), "unsaid");
  assert.equal(await verdictOf(list, true), "valid");
  assert.equal(await verdictOf({ ...list, $schema: "http://json-schema.org/draft-07/schema#" }), "valid");
  assert.equal(
    await verdictOf({ ...list, $schema: "https://json-schema.org/draft/2020-12/schema" }),
    "invalid",
  );
  assert.equal(await verdictOf({ $schema: "https://example.com/own", type: "object" }), "foreign");
});

test("resultProblems() judges by the revision, and passes over what it does not define (OUT-19)", async () => {
  const call = { content: [{ type: "text", text: "hi" }] };
  for (const version of ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]) {
    assert.deepEqual(await resultProblems(version, "tools/call", call), [], version);
    assert.notDeepEqual(await resultProblems(version, "tools/call", { content: "hi" }), [], version);
  }
  assert.deepEqual(await resultProblems("2026-07-28", "tools/call", { ...call, resultType: "complete" }), []);
  assert.notDeepEqual(
    await resultProblems("2026-07-28", "tools/list", { tools: [], resultType: "complete" }),
    [],
  );
  assert.deepEqual(await resultProblems("2025-11-25", "server/discover", {}), []);
  assert.deepEqual(await resultProblems("2025-11-25", "x/own", { any: 1 }), []);
  const progress = {
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken: 1, progress: "x" },
  };
  assert.notDeepEqual(await notificationProblems("2025-11-25", progress), []);
});

const READ_ONLY = { readOnlyHint: true, openWorldHint: false };

test("mayBeCalled() takes a tool by its own word, and what is unsaid for the worse", () => {
  const rows: ReadonlyArray<readonly [ToolPolicy, object | undefined, boolean]> = [
    ["harmless", READ_ONLY, true],
    ["harmless", { readOnlyHint: true }, false],
    ["harmless", { ...READ_ONLY, destructiveHint: true }, false],
    ["harmless", undefined, false],
    ["read_only", { readOnlyHint: true }, true],
    ["read_only", undefined, false],
    ["all", undefined, true],
    ["none", READ_ONLY, false],
  ];
  for (const [policy, annotations, allowed] of rows) {
    assert.equal(
      mayBeCalled({ name: "x", annotations }, policy),
      allowed,
      `${policy} ${JSON.stringify(annotations)}`,
    );
  }
});

test("makeArguments() invents nothing: a value stands in the schema, or the tool is passed over", () => {
  const object = (properties: object, required: string[]) => ({ type: "object", properties, required });
  assert.deepEqual(makeArguments(object({ a: { enum: ["x", "y"] }, b: { type: "string" } }, ["a"])), {
    a: "x",
  });
  assert.deepEqual(
    makeArguments(object({ a: { const: 1 }, b: { default: 2 }, c: { examples: [3] } }, ["a", "b", "c"])),
    { a: 1, b: 2, c: 3 },
  );
  assert.equal(makeArguments(object({ a: { type: "string" } }, ["a"])), undefined);
  assert.deepEqual(makeArguments(undefined), {});
});

test("breakArguments() leaves a required one out, or gives one the wrong type", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string" }, o: { type: "object" } },
    required: ["a"],
  };
  assert.deepEqual(breakArguments(schema, { a: "x" }), {});
  assert.deepEqual(breakArguments({ ...schema, required: [] }, {}), { a: { "mcp-stdio-doctor": true } });
  assert.equal(breakArguments({ type: "object" }, {}), undefined);
});

test("chooseTool() prefers no arguments, then few, and says why there is none", () => {
  const annotations = READ_ONLY;
  const tools = [
    { name: "much", annotations, inputSchema: { type: "object", properties: { a: {}, b: {} } } },
    { name: "little", annotations, inputSchema: { type: "object", properties: { a: {} } } },
    {
      name: "needs",
      annotations,
      inputSchema: { type: "object", properties: { a: { const: 1 } }, required: ["a"] },
    },
    { name: "writes", inputSchema: { type: "object" } },
  ];
  const trial = (items: unknown[], options: object = {}) =>
    ({
      era: { modern: false, version: "2025-11-25" },
      facts: { legacy: { lists: { tools: { items } } } },
      options: { policy: "harmless", ...options },
    }) as unknown as Trial;
  const nameOf = (chosen: ReturnType<typeof chooseTool>) => typeof chosen === "string" ? chosen : chosen.name;
  assert.equal(nameOf(chooseTool(trial(tools))), "little");
  assert.match(nameOf(chooseTool(trial(tools.slice(3)))), /no tool says that it is read-only/);
  assert.match(nameOf(chooseTool(trial([]))), /lists no tools/);
  assert.match(nameOf(chooseTool(trial(tools, { policy: "none" }))), /--no-tools/);
  assert.equal(
    nameOf(chooseTool(trial(tools, { policy: "none", tool: { name: "writes", args: {} } }))),
    "writes",
  );
});

test("reportJUnit() writes XML whatever stands in a name (L2)", () => {
  const examined: Examined = {
    facts: newFacts(),
    outcomes: [],
    talks: [],
    usable: true,
    seconds: 1,
    startedAt: new Date(0),
  };
  const xml = reportJUnit(examined, 'node "a<b>&\x1b[31m\ud83d"', "must");
  assert.match(xml, /name="mcp-stdio doctor: node &quot;a&lt;b&gt;&amp;\\u001b\[31m\\ud83d&quot;"/);
});

test("firstThing() puts what keeps a client out before the rest", () => {
  const summaries = (...rows: ReadonlyArray<readonly [string, "fail" | "warn"]>) =>
    rows.map(([id, verdict]) => ({ check: { id } as Check, verdict, outcomes: [] }));
  assert.equal(
    firstThing(summaries(["END-01", "warn"], ["TOOL-03", "fail"], ["OUT-01", "fail"]))?.check.id,
    "OUT-01",
  );
  assert.equal(firstThing(summaries(["TOOL-03", "fail"], ["REQ-10", "fail"]))?.check.id, "REQ-10");
  assert.equal(firstThing(summaries(["END-01", "warn"]))?.check.id, "END-01");
  assert.equal(firstThing([]), undefined);
});

test("each check of the catalogue says where it stands, what it sends and how it is mended (L2)", () => {
  assert.ok(CATALOGUE.length >= 120, `${CATALOGUE.length} checks`);
  for (const { id, title, sends, mend, place } of CATALOGUE) {
    for (const text of [title, sends, mend, place.page]) {
      assert.ok(text.length > 3, `${id}: ${JSON.stringify(text)}`);
    }
  }
});
