// `mcp-stdio doctor` as a command: its options, its reports, its exit codes.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { runCli, type RunResult } from "./cli_helpers.ts";
import { examine, fixtureCommand } from "./doctor_helpers.ts";
import { createTurns } from "./helpers.ts";

const SLOW = { timeout: 120_000 };
const inTurn = createTurns();

function doctor(
  args: readonly string[],
  fault?: string,
  options?: Parameters<typeof runCli>[1],
): Promise<RunResult> {
  const server = fixtureCommand(fault === undefined ? [] : ["--break", fault]);
  return runCli(["doctor", ...args, "--", ...server], options);
}

const FEW = ["--only", "START-01,OUT-01,OUT-05,REQ-04,CAN-03", "--era", "modern"];

test("doctor tells a failure with its rule, place, bytes and mend, and ends with 1 (L2)", {
  ...SLOW,
  skip: inTurn(),
}, async () => {
  const { code, stdout } = await doctor(FEW, "OUT-01");
  assert.equal(code, 1);
  assert.match(stdout, /^mcp-stdio doctor \S+ {3}\S/);
  assert.match(stdout, /doctor-fixture 1\.0\.0 {3}modern 2026-07-28/);
  assert.match(stdout, /Failed \(1\)\n {2}OUT-01 +\d+ lines? that (?:is|are) no message \(text\)/);
  assert.match(stdout, /MUST · basic\/transports\/stdio · every line is one JSON-RPC message/);
  assert.match(stdout, /got: {2}Loaded 12 entities in 4 ms \(process \d+/);
  assert.match(stdout, /mend: TS: console\.log → console\.error/);
  assert.match(stdout, /Skipped \(1\)\n {2}CAN-03 +needs a slow tool: --slow NAME/);
  assert.match(stdout, /What to do first: OUT-01/);
  // deno-lint-ignore no-control-regex -- there must be none
  assert.doesNotMatch(stdout, /\x1b/);
});

test(
  "doctor ends with 0 without a failure; --strict counts warnings, and =advice notes (L2)",
  { ...SLOW, skip: inTurn() },
  async () => {
    assert.equal((await doctor(FEW)).code, 0);
    assert.equal((await doctor(FEW, "OUT-05")).code, 0);
    assert.equal((await doctor([...FEW, "--strict"], "OUT-05")).code, 1);
    assert.equal((await doctor([...FEW, "--strict"], "REQ-04")).code, 0);
    assert.equal((await doctor([...FEW, "--strict=advice"], "REQ-04")).code, 1);
  },
);

test("doctor --json is one object with the check, its evidence and its processes (L2)", {
  ...SLOW,
  skip: inTurn(),
}, async () => {
  const { code, json } = await doctor([...FEW, "--json"], "OUT-01");
  const report = json();
  assert.equal(code, 1);
  assert.equal(report.schema, 1);
  assert.equal(report.ok, false);
  assert.equal(report.server.name, "doctor-fixture");
  assert.deepEqual(report.counts, { pass: 3, fail: 1, warn: 0, note: 0, skip: 1, unknown: 0 });
  const check = report.checks.find((each: { id: string }) => each.id === "OUT-01");
  assert.equal(check.verdict, "fail");
  assert.equal(check.level, "MUST");
  assert.equal(check.era, "2026-07-28");
  assert.equal(
    check.spec.url,
    "https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio",
  );
  assert.match(check.evidence[0].sent, /"method":"tools\/list"/);
  assert.equal(check.evidence[0].got, "Loaded 12 entities in 4 ms");
  assert.deepEqual(report.processes[0].exit, { code: 0, signal: null, step: "eof", text: "code 0" });
});

test(
  "doctor --json=lines gives a line for each check as it is done (L2)",
  { ...SLOW, skip: inTurn() },
  async () => {
    const { stdout } = await doctor([...FEW, "--json=lines"]);
    const lines = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(lines.slice(0, -1).map(({ id }) => id).sort(), [
      "CAN-03",
      "OUT-01",
      "OUT-05",
      "REQ-04",
      "START-01",
    ]);
    assert.equal(lines.at(-1).ok, true);
  },
);

test(
  "doctor --junit writes a report that says what failed, and one's own alone may read it (L2)",
  { ...SLOW, skip: inTurn() },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "doctor-junit-"));
    try {
      const path = join(folder, "doctor.xml");
      await doctor([...FEW, "--junit", path], "OUT-01/log");
      const xml = readFileSync(path, "utf8");
      assert.match(xml, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites name="mcp-stdio doctor: /);
      assert.match(xml, /<testsuite name="mcp-stdio\.stdout" tests="2" failures="1" errors="0" skipped="0"/);
      assert.match(
        xml,
        /<testcase classname="mcp-stdio\.stdout\.2026-07-28" name="OUT-01 every line is one JSON-RPC message"/,
      );
      assert.match(xml, /<failure type="MUST" message="[^"]*colour codes[^"]*">/);
      assert.match(xml, /\\u001b\[32minfo/);
      assert.match(xml, /<skipped message="needs a slow tool/);
      // deno-lint-ignore no-control-regex -- XML must have none of them
      assert.doesNotMatch(xml, /[\x00-\x08\x0b-\x1f]/);
      if (process.platform !== "win32") assert.equal(statSync(path).mode & 0o777, 0o600);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

test(
  "doctor --baseline lets pass what a former run has found (L2)",
  { ...SLOW, skip: inTurn() },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "doctor-baseline-"));
    try {
      const path = join(folder, "known.json");
      writeFileSync(path, (await doctor([...FEW, "--json"], "OUT-01")).stdout);
      assert.equal((await doctor([...FEW, "--baseline", path], "OUT-01")).code, 0);
      assert.equal((await doctor(["--only", "REQ-03", "--baseline", path], "REQ-03")).code, 1);
      writeFileSync(path, "{}");
      const { code, stderr } = await doctor(["--baseline", path]);
      assert.equal(code, 2);
      assert.match(stderr, /it is no report of doctor/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

test("doctor --explain shows the bytes that went and came, and a line for the shell (L2)", {
  ...SLOW,
  skip: inTurn(),
}, async () => {
  const { stdout } = await doctor(["--explain", "NOTE-01", "--era", "modern"], "NOTE-01");
  assert.match(
    stdout,
    /^NOTE-01 a notification is never answered {3}MUST\nwhere: basic\/index § Notifications {2}https:/,
  );
  assert.match(stdout, /→ \{"jsonrpc":"2\.0","method":"notifications\/doctor"\}/);
  assert.match(stdout, /← \{"jsonrpc":"2\.0","id":null,"error":\{"code":-32601/);
  assert.match(stdout, /again: printf '\{"jsonrpc":"2\.0"/);
});

test("doctor --list has every check, for people and as JSON (L2)", async () => {
  const { stdout, code } = await runCli(["doctor", "--list"]);
  assert.equal(code, 0);
  assert.match(stdout, /^start\n {2}START-01 {2}MUST {3}answers its first message\n/);
  const list = (await runCli(["doctor", "--list", "--json"])).json();
  assert.equal(stdout.match(/^ {2}\S/gm)?.length, list.length);
  assert.ok(list.every(({ id, mend, spec }: { [name: string]: unknown }) => id && mend && spec));
});

test("doctor says what is wrong with a server that cannot be used, and ends with 3 (L2)", {
  ...SLOW,
  skip: inTurn(),
}, async () => {
  const exits = await doctor(["--patience", "0.2"], "START-01/exit");
  assert.equal(exits.code, 3);
  assert.match(exits.stdout, /START-01 +it ended before it answered \(code 1\)/);
  const lsp = await doctor(["--patience", "0.1"], "START-01/content-length");
  assert.equal(lsp.code, 3);
  assert.match(lsp.stdout, /it answers, but not in this framing: Content-Length framing/);
  assert.match(lsp.stdout, /Language Server Protocol/);
  const json = (await doctor(["--patience", "0.2", "--json"], "START-01/exit")).json();
  assert.equal(json.ok, false);
  assert.equal(json.server, null);
  assert.equal(json.checks[0].id, "START-01");
  const none = await runCli(["doctor", "--", "no-such-command-anywhere"]);
  assert.equal(none.code, 3);
  assert.match(none.stderr, /Cannot start "no-such-command-anywhere": no such command/);
});

for (
  const [args, message] of [
    [["--only", "OUT-99"], /Cannot use --only "OUT-99": no check and no group has that name/],
    [["--explain", "nothing"], /no check and no group has that name/],
    [["--tool", "x", "--args", "{"], /Cannot use --args "\{": it is no JSON/],
    [["--slow-args", "{}"], /Cannot use --slow-args: it needs --slow/],
    [["--tool", "x", "--args", "[]"], /it is no JSON object/],
    [["--era", "1999"], /Cannot use --era "1999"/],
    [["--patience", "fast"], /Cannot use --patience "fast": it is a number/],
    [["--baseline", "/no/such/file"], /Cannot read --baseline/],
  ] as const
) {
  test(`doctor ${args.join(" ")} ends with 2 and says why (L2)`, async () => {
    const { code, stderr } = await runCli(["doctor", ...args, "--", "true"]);
    assert.equal(code, 2);
    assert.match(stderr, message);
  });
}

test(
  "doctor shows its progress and bars on a terminal, and colour (L2)",
  { ...SLOW, skip: inTurn() },
  async () => {
    const { stdout, stderr } = await doctor(FEW, "OUT-01", {
      isTerminal: true,
      columns: 120,
      env: { LANG: "en_US.UTF-8", TERM: "xterm" },
    });
    assert.match(stderr, /OUT-01 … \d+ of 5/);
    // deno-lint-ignore no-control-regex -- colour is what is looked for
    assert.match(stdout, /\x1b\[31mFailed \(1\)/);
    assert.match(stdout, /█/);
  },
);

test(
  "doctor starts no more often than it may, calls no tool unasked and none when forbidden (1.2)",
  { ...SLOW, skip: inTurn() },
  async () => {
    const few = (await doctor(["--max-starts", "4", "--only", "eras", "--json"])).json();
    assert.equal(few.processes.length, 4);
    assert.ok(
      few.checks.some(({ summary }: { summary: string }) =>
        summary === "no starts are left: see --max-starts"
      ),
    );
    const once = (await doctor(["--once", "--only", "TOOL,LIST", "--json"])).json();
    assert.equal(once.processes.length, 2);
    assert.deepEqual(once.tools.called.map(({ name }: { name: string }) => name), ["now"]);
    const none = (await doctor(["--once", "--only", "TOOL", "--no-tools", "--json"])).json();
    assert.deepEqual(none.tools.called, []);
  },
);

test(
  "doctor shows nothing of what a tool returned unless it is told to (1.2)",
  { ...SLOW, skip: inTurn() },
  async () => {
    const only = ["--only", "TOOL-03", "--verbose", "--era", "modern", "--json"];
    const got = async (...more: string[]) =>
      (await doctor([...only, ...more], "TOOL-03")).json().checks[0].evidence[0].got;
    assert.match(await got(), /^a result with text, \d+ bytes$/);
    assert.match(await got("--show-content"), /noon/);
  },
);

for (
  const [fault, what] of [
    ["REQ-04", "a finding"],
    ["FRAME-06", "an end of the process"],
    ["END-01/code", "a finding in a process of its own"],
    ["REQ-12", "an end in a process of its own"],
  ] as const
) {
  test(
    `doctor does not report ${what} that does not come a second time (1.3)`,
    { ...SLOW, skip: inTurn() },
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "doctor-once-"));
      try {
        // The first process is that of START-01.
        const id = fault.split("/")[0]!;
        const own = id === "END-01" || id === "REQ-12";
        const { outcomes, facts } = await examine(
          fixtureCommand(["--break", fault, own ? "--second" : "--first", join(folder, "ran")]),
          { only: [id], era: "legacy", slow: { name: "slow", args: { ms: 300 } } },
        );
        const { finding, confirmed } = outcomes.find(({ check }) => check.id === id)!;
        assert.equal(finding.verdict, "unknown");
        assert.match(finding.summary, /once in two runs/);
        assert.notEqual(confirmed, true);
        assert.equal(facts.unstable, true);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
}

test("doctor --quick needs few starts (4)", { ...SLOW, skip: inTurn() }, async () => {
  const { processes, checks } = (await doctor(["--quick", "--json"])).json();
  assert.ok(processes.length <= 8, `${processes.length} starts`);
  const ids = checks.map(({ id }: { id: string }) => id);
  for (const id of ["START-02", "NOTE-01", "END-01", "FRAME-06", "OUT-01"]) assert.ok(ids.includes(id), id);
});

test(
  "doctor that is interrupted ends its servers and gives 130 (L1)",
  { ...SLOW, skip: inTurn() },
  async () => {
    const controller = new AbortController();
    const running = doctor([], undefined, {
      interrupted: controller.signal,
      isTerminal: true,
      env: { TERM: "xterm" },
      onStart: ({ stderr }) => {
        const write = stderr.write.bind(stderr);
        stderr.write = (content) => {
          write(content);
          if (stderr.text.includes("REQ-01")) controller.abort();
        };
      },
    });
    assert.equal((await running).code, 130);
  },
);
