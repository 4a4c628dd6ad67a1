// `call`, `read`, `prompt` and `listen` against a real server (L1).
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { tellEvent } from "../internal/cli/listen.ts";
import { Screen } from "../internal/cli/screen.ts";
import { strangerCommand } from "./_stranger.ts";
import type { ListenEvent } from "../client.ts";
import { FakeOutput, runCli, runProgram, type RunResult, serverArgs } from "./cli_helpers.ts";
import { createTurns, waitUntil } from "./helpers.ts";
import { SLOW } from "./server_helpers.ts";

const inTurn = createTurns();
const SERVER = serverArgs("tests/fixtures/cli_server");
// deno-lint-ignore no-control-regex -- none of them may be shown
const UNSAFE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

function assertSafe({ stdout, stderr }: RunResult): void {
  assert.doesNotMatch(stdout, UNSAFE);
  assert.doesNotMatch(stderr, UNSAFE);
}

const CALLS: ReadonlyArray<readonly [words: string[], expected: unknown]> = [
  [["typed", "text=5", "count=5"], { text: "5", count: 5 }],
  [["typed", "text=a=b", "count=-1", "colour=red"], { text: "a=b", count: -1, colour: "red" }],
  [["typed", "text=", "count:=2", "tags=x", "tags=y"], { text: "", count: 2, tags: ["x", "y"] }],
  [["typed", "text=t", "count=1", 'tags=["x"]', 'deep={"a":{"b":null}}'], {
    text: "t",
    count: 1,
    tags: ["x"],
    deep: { a: { b: null } },
  }],
  [["typed", "--args", '{"text":"t","count":1}', "count=2"], { text: "t", count: 2 }],
  [["open", "any=1", "word=x", 'json:={"a":1}'], { any: 1, word: "x", json: { a: 1 } }],
];

for (const [words, expected] of CALLS) {
  test(
    `call ${words.join(" ")} gives the tool ${JSON.stringify(expected)} (L1)`,
    { ...SLOW, skip: inTurn() },
    async () => {
      const { code, stdout, stderr } = await runCli(["call", ...words, "-q", ...SERVER]);
      assert.deepEqual([code, stderr], [0, ""]);
      assert.deepEqual(JSON.parse(stdout), expected);
    },
  );
}

test(
  "call reads --args from a file and from what is piped in (L1)",
  { ...SLOW, skip: inTurn() },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "cli-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, "args.json");
    writeFileSync(path, '{"text":"file","count":1}');
    const fromFile = await runCli(["call", "typed", "--args", `@${path}`, ...SERVER]);
    assert.deepEqual(JSON.parse(fromFile.stdout), { text: "file", count: 1 });
    const piped = await runCli(["call", "typed", "--args", "-", ...SERVER], {
      piped: '{"text":"pipe","count":1}',
    });
    assert.deepEqual(JSON.parse(piped.stdout), { text: "pipe", count: 1 });
  },
);

const WRONG: ReadonlyArray<readonly [words: string[], message: RegExp]> = [
  [["typd"], /Cannot call "typd": the server has no such tool, but there is typed\n/],
  [["typed", "count=1"], /Cannot call "typed": "text" is missing\n {2}text=… {2}string: any text\n/],
  [["typed"], /Cannot call "typed": "text", "count" are missing\n/],
  [["typed", "text=t", "count=one"], /Cannot call "typed" with "count=one": it must be an integer\n/],
  [
    ["typed", "text=t", "count=1", "colour=blue"],
    /with "colour=blue": it must be string, one of red, green\n/,
  ],
  [
    ["typed", "text=t", "count=1", "colur=red"],
    /with "colur": there is no such argument, but there is colour\n/,
  ],
  [
    ["typed", "text=t", "count=1", "x=1"],
    /with "x": there is no such argument, it takes text, count, colour/,
  ],
  [["typed", "text"], /Cannot call "typed" with "text": it is no key=value\n/],
  [["typed", "text:=t"], /Cannot call "typed" with "text:=t": what follows := is no JSON\n/],
  [["typed", "--args", "[1]"], /Cannot use --args "\[1\]": it is no JSON object\n/],
  [["typed", "--args", "{"], /Cannot use --args "\{": it is no JSON\n/],
  [["typed", "--args", "@/no/such/file"], /Cannot read the arguments in "\/no\/such\/file"/],
];

for (const [words, message] of WRONG) {
  test(`call ${words.join(" ")} is wrong usage, and says why (L1)`, { ...SLOW, skip: inTurn() }, async () => {
    const { code, stdout, stderr } = await runCli(["call", ...words, ...SERVER]);
    assert.match(stderr, message);
    assert.deepEqual([code, stdout], [2, ""]);
  });
}

test(
  "call asks on a terminal for what is missing, until it can be read (L1)",
  { ...SLOW, skip: inTurn() },
  async () => {
    const result = await runCli(["call", "typed", "text=t", "-q", ...SERVER], { answers: ["one", "1"] });
    assert.equal(result.code, 0, result.stderr);
    assert.deepEqual(JSON.parse(result.stdout), { text: "t", count: 1 });
    assert.deepEqual(result.questions, ["count (integer): ", "count (integer): "]);
    assert.match(result.stderr, /it must be an integer\n/);
    const given = await runCli(["call", "typed", "text=t", ...SERVER], { answers: [] });
    assert.deepEqual([given.code, given.stdout], [2, ""]);
    assert.match(given.stderr, /Cannot call "typed": "count" is missing/);
  },
);

for (const era of ["modern", "legacy"]) {
  test(
    `call answers what the server asks on a terminal, and declines elsewhere, era ${era} (L1)`,
    { ...SLOW, skip: inTurn() },
    async () => {
      const args = ["call", "form", "--era", era, "--json", ...SERVER];
      const answerOf = ({ json }: RunResult) => JSON.parse(json().content[0].text);
      const answered = await runCli(args, { answers: ["y", "Ada", "old", "36", "", ""] });
      assert.equal(answered.code, 0, answered.stderr);
      assert.deepEqual(answerOf(answered).content, { name: "Ada", age: 36, colour: "green" });
      assert.equal(answerOf(answered).action, "accept");
      assert.match(answered.stderr, /The server asks: Who is it\? plain\\u001b/);
      assert.equal(answerOf(await runCli(args, { answers: ["n"] })).action, "decline");
      assert.equal(answerOf(await runCli(args, { answers: ["y", "Ada"] })).action, "cancel");
      const declined = await runCli(args);
      assert.equal(answerOf(declined).action, "decline");
      assert.match(
        declined.stderr,
        /warning: the server asks ".*": declined, as there is no terminal to ask on\n/,
      );
      assertSafe(declined);
    },
  );
}

test(
  "text of a server reaches the terminal without control characters, whatever shows it (L1)",
  { ...SLOW, skip: inTurn() },
  async () => {
    const results = await Promise.all([
      runCli(["call", "evil", ...SERVER]),
      runCli(["call", "evil", "--json", ...SERVER]),
      runCli(["call", "stderr", ...SERVER]),
      runCli(["list", ...SERVER]),
      runCli(["list", "--json", ...SERVER]),
      runCli(["read", "test://text", ...SERVER]),
    ]);
    for (const result of results) {
      assert.equal(result.code, 0, result.stderr);
      assertSafe(result);
      assert.match(result.stdout + result.stderr, /plain\\u001b/);
    }
    const raw = await runCli(["call", "evil", "--raw", ...SERVER]);
    assert.equal(raw.stdout, "plain\x1b[31m\u202e\x07");
  },
);

test(
  "call shows each kind of content, and structured content where there is no text (L1)",
  { ...SLOW, skip: inTurn() },
  async () => {
    const blocks = await runCli(["call", "blocks", ...SERVER]);
    assert.equal(
      blocks.stdout,
      "one\ntwo\n[image, image/png, 3 bytes: --raw writes them]\nembedded\n[resource test://b: b]\n",
    );
    const structured = await runCli(["call", "structured", ...SERVER]);
    assert.equal(structured.stdout, '{"sum":3}\n');
  },
);

test("a tool that fails ends with 1, its text on stdout (L1)", { ...SLOW, skip: inTurn() }, async () => {
  const { code, stdout, stderr } = await runCli([
    "call",
    "fail",
    ...serverArgs("examples/everything_server"),
  ]);
  assert.deepEqual([code, stdout], [1, "this tool always fails\n"]);
  assert.match(stderr, /error: the tool has failed/);
});

test(
  "call shows progress as a bar on a terminal and as plain lines elsewhere, and log messages when asked (L1)",
  { ...SLOW, skip: inTurn() },
  async () => {
    const server = serverArgs("examples/everything_server");
    const plain = await runCli(["call", "progress", "steps=4", "-q", ...server]);
    assert.equal(plain.stdout, "4 steps\n");
    assert.equal(
      plain.stderr,
      [1, 2, 3, 4].map((step) => `progress ${step} of 4: step ${step}\n`).join(""),
    );
    const seen = await runCli(["call", "progress", "steps=4", "-q", ...server], { isTerminal: true });
    assert.match(seen.stderr, /progress █{24} 100 % 4 of 4: step 4/);
    assert.ok(seen.stderr.endsWith("\r\x1b[K"));
    const ascii = await runCli(["call", "progress", "steps=4", "-q", ...server], {
      isTerminal: true,
      env: { LANG: "C" },
    });
    assert.match(ascii.stderr, /progress #{24} 100 %/);
    const log = ["call", "log", "text=hello", "level=warning", "-q"];
    assert.match(
      (await runCli([...log, "--log-level", "info", ...server])).stderr,
      /^\[warning\] everything: hello\n$/,
    );
    assert.equal((await runCli([...log, "--log-level", "error", ...server])).stderr, "");
  },
);

test(
  "an entry of a host's file gets what it says and the safe names of this environment, as from a host (L1)",
  { ...SLOW, skip: inTurn() },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "cli-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, ".mcp.json");
    const [, command = "", ...args] = SERVER;
    const entry = { command, args, env: { FROM_FILE: "file", BOTH: "file" } };
    writeFileSync(path, JSON.stringify({ mcpServers: { cli: entry } }));
    process.env["CLI_TEST_INHERITED"] = "yes";
    const { stdout } = await runCli(["call", "environment", "--config", path, "--env", "BOTH=line"]);
    const { env } = JSON.parse(stdout);
    assert.deepEqual([env.FROM_FILE, env.BOTH, env.CLI_TEST_INHERITED], ["file", "line", undefined]);
    assert.equal(env.PATH, process.env["PATH"]);
  },
);

test("Ctrl-C gives up a server that does not answer, at once (L1)", { ...SLOW, skip: inTurn() }, async () => {
  const controller = new AbortController();
  const { code } = await runCli(["list", "--timeout", "1h", "--", ...strangerCommand("never_reads.mjs")], {
    interrupted: controller.signal,
    isTerminal: true,
    onStart: ({ stderr }) => {
      void waitUntil(() => stderr.text.includes("starting"), { timeoutMs: 60_000 })
        .then(() => controller.abort(new Error("Ctrl-C")));
    },
  });
  assert.equal(code, 130);
});

test(
  "--env, --cwd and this environment reach a typed server; --timeout bounds an answer (L1)",
  { ...SLOW, skip: inTurn() },
  async () => {
    const folder = tmpdir();
    process.env["CLI_TEST_INHERITED"] = "yes";
    const args = [
      "call",
      "environment",
      "--env",
      "CLI_TEST=1",
      "--env",
      "CLI_TEST_INHERITED",
      "--cwd",
      folder,
    ];
    const { stdout } = await runCli([...args, ...SERVER]);
    const { env, cwd } = JSON.parse(stdout);
    assert.deepEqual([env.CLI_TEST, env.CLI_TEST_INHERITED], ["1", "yes"]);
    assert.ok(cwd.endsWith(folder.split("/").at(-1)!), cwd);
    const slow = await runCli([
      "call",
      "sleep",
      "ms=60000",
      "--timeout",
      "1500ms",
      ...serverArgs("examples/everything_server"),
    ]);
    assert.equal(slow.code, 3);
    assert.match(slow.stderr, /error: .*tools\/call.*1500 ms/);
  },
);

test(
  "a server that dies in a call ends with 3, and what it wrote to stderr is shown once (L1)",
  { ...SLOW, skip: inTurn() },
  async () => {
    const crash = serverArgs("examples/weather_server");
    const seen = await runCli(["call", "crash", ...crash]);
    assert.equal(seen.code, 3);
    assert.equal(seen.stderr.split("the sensor is on fire").length - 1, 1, seen.stderr);
    const quiet = await runCli(["call", "crash", "-q", ...crash]);
    assert.match(quiet.stderr, /it wrote to stderr:\n {2}the sensor is on fire\n/);
    const json = await runCli(["call", "crash", "-q", "--json", ...crash]);
    assert.equal(json.json().error.code, "connection_closed");
  },
);

test(
  "Ctrl-C gives a call up, ends the server and the command with 130 (L1)",
  { ...SLOW, skip: inTurn() },
  async () => {
    const controller = new AbortController();
    const call = runCli(["call", "stubborn", "ms=60000", ...serverArgs("examples/everything_server")], {
      interrupted: controller.signal,
      isTerminal: true,
      onStart: ({ stderr }) => {
        void waitUntil(() => stderr.text.includes("stubborn …"), { timeoutMs: 60_000 })
          .then(() => controller.abort(new Error("Ctrl-C")));
      },
    });
    const { code, stdout } = await call;
    assert.deepEqual([code, stdout], [130, ""]);
  },
);

test("read gives text, and bytes with --raw (L1)", { ...SLOW, skip: inTurn() }, async (t) => {
  const shown = await runCli(["read", "test://bytes", ...SERVER]);
  assert.match(
    shown.stdout,
    /^\[resource test:\/\/bytes, application\/octet-stream, 3 bytes: --raw writes them\]\n$/,
  );
  assert.equal(
    (await runCli(["read", "test://bytes", "--json", ...SERVER])).json().contents[0].blob,
    btoa("\0\x01\xff"),
  );
  const raw = await runProgram(t, ["read", "test://text", "--raw", ...SERVER]);
  assert.equal(raw.stdout, "text plain\x1b[31m\u202e\x07");
  const missing = await runCli(["read", "test://none", "--json", ...SERVER]);
  assert.equal(missing.code, 1);
  assert.equal(typeof missing.json().error.code, "number");
});

test(
  "prompt shows messages, names what is missing and asks for it (L1)",
  { ...SLOW, skip: inTurn() },
  async () => {
    const { code, stdout } = await runCli(["prompt", "greet", "name=Ada", "tone=warm", ...SERVER]);
    assert.deepEqual([code, stdout], [0, "user:\nwarm: Ada\n"]);
    const missing = await runCli(["prompt", "greet", ...SERVER]);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /Cannot get the prompt "greet": "name" is missing/);
    const asked = await runCli(["prompt", "greet", "--json", ...SERVER], { answers: ["Bo"] });
    assert.equal(asked.json().messages[0].content.text, "plain: Bo");
    assert.match(
      (await runCli(["prompt", "gret", ...SERVER])).stderr,
      /no such prompt, but there is greet\n/,
    );
  },
);

for (const era of ["modern", "legacy"]) {
  test(
    `listen shows what changes until it has seen enough, era ${era} (L1)`,
    { ...SLOW, skip: inTurn() },
    async () => {
      const ticking = serverArgs("tests/fixtures/cli_server", ["ticks"]);
      const args = ["listen", "--era", era, "--resource", "test://text", "--count", "2", "--json", "-q"];
      const { code, stdout, stderr } = await runCli([...args, ...ticking]);
      assert.equal(code, 0, stderr);
      const events = stdout.trim().split("\n").map((line) => JSON.parse(line));
      assert.deepEqual(events.map(({ method }) => method), Array(2).fill("notifications/resources/updated"));
      assert.equal(events[0].params.uri, "test://text");
      // Two changes in one turn come together.
      const one = [
        "listen",
        "--era",
        era,
        "--tools",
        "--resource",
        "test://text",
        "--count",
        "1",
        "--json",
        "-q",
      ];
      const first = await runCli([...one, ...ticking]);
      assert.equal(first.stdout.trim().split("\n").length, 1, first.stdout);
    },
  );
}

test(
  "listen ends well with Ctrl-C and when its time is over, and says what the server does not tell (L1)",
  { ...SLOW, skip: inTurn() },
  async () => {
    const controller = new AbortController();
    const stopped = await runCli(["listen", "--tools", ...SERVER], {
      interrupted: controller.signal,
      onStart: ({ stderr }) => {
        void waitUntil(() => stderr.text.includes("listening"), { timeoutMs: 60_000 })
          .then(() => controller.abort(new Error("Ctrl-C")));
      },
    });
    assert.deepEqual([stopped.code, stopped.stdout], [0, ""]);
    const timed = await runCli([
      "listen",
      "--prompts",
      "--for",
      "10ms",
      ...serverArgs("examples/weather_server"),
    ]);
    assert.equal(timed.code, 0, timed.stderr);
    assert.match(timed.stderr, /warning: the server does not tell of changes of its prompts\n/);
    for (const count of ["0", "x", "1.5"]) {
      assert.match((await runCli(["listen", "--count", count, ...SERVER])).stderr, /Cannot use --count/);
    }
  },
);

test("listen says that something was missed, where no line of its output is one of an event (L1)", () => {
  const event: ListenEvent = {
    kind: "notification",
    method: "notifications/resources/updated",
    params: { uri: "a:b" },
  };
  for (const isJson of [true, false]) {
    const stdout = new FakeOutput(false);
    const stderr = new FakeOutput(false);
    const screen = new Screen({ stdout, stderr, env: () => undefined });
    tellEvent({ kind: "missed" }, new Date(0), isJson, screen);
    assert.deepEqual([stdout.text, stderr.text], [
      "",
      "warning: more has changed than could be told: read everything anew\n",
    ]);
    tellEvent({ kind: "resubscribed", filter: {} }, new Date(0), isJson, screen);
    assert.match(
      stderr.text,
      /warning: the server was started again: what changed meanwhile was not told\n$/,
    );
    tellEvent(event, new Date(0), isJson, screen);
    assert.match(stdout.text, /^(\{"at":"1970-01-01T00:00:00.000Z",|\d\d:\d\d:\d\d ).*"uri":"a:b".*\n$/);
  }
});
