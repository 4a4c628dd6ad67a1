// The form of a recording, and what is made of bytes on their way into it: pure code, fed at every cut (L4, L6).
import assert from "node:assert/strict";
import { test } from "node:test";
import { Backlog, type BacklogSettings } from "../internal/cli/record/backlog.ts";
import { EventLog } from "../internal/cli/record/event_log.ts";
import { LineCutter } from "../internal/cli/record/line_cutter.ts";
import { Recorder } from "../internal/cli/record/recorder.ts";
import {
  bytesOfLine,
  type LineEvent,
  parseEvent,
  type RecordedEvent,
} from "../internal/cli/recording/format.ts";
import { maskMessage, mayHoldSecret } from "../internal/cli/recording/mask.ts";
import { RecentMap } from "../internal/cli/recording/recent_map.ts";
import { createDeferred } from "../internal/promises.ts";
import type { Clock } from "../runtime.ts";
import { maskSecrets } from "../internal/secrets.ts";
import { bytesOf, createRandom, everyCut, nextTurn, randomCuts } from "./helpers.ts";

/** Time that passes at once, with nothing in between: for what waits for nobody. */
class StepClock implements Clock {
  readonly #timers = new Map<number, { due: number; callback: () => void }>();
  #now = 0;
  #last = 0;

  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, delayMs: number): unknown {
    this.#timers.set(++this.#last, { due: this.#now + delayMs, callback });
    return this.#last;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as number);
  }

  advance(durationMs: number): void {
    const until = this.#now + durationMs;
    for (;;) {
      const due = [...this.#timers].filter(([, timer]) => timer.due <= until);
      const [first] = due.sort(([, one], [, other]) => one.due - other.due);
      if (first === undefined) break;
      this.#timers.delete(first[0]);
      this.#now = Math.max(this.#now, first[1].due);
      first[1].callback();
    }
    this.#now = until;
  }
}

/** Everything that may stand between two line feeds. */
const LINES: readonly (readonly number[] | string)[] = [
  '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  '{ "jsonrpc" : "2.0", "id": 12345678901234567890, "result": {"é":"\\u00e9\\/"}, "id": 2 }',
  '{"jsonrpc":"2.0","id":2,"result":{}}\r',
  "",
  " \t",
  "\ufeff{}",
  "plain text",
  '"message":',
  '{"text":"a \\"message\\": in a text"}',
  "[1,2]",
  "7",
  [0xff, 0xfe, 0x00],
  [0x7b, 0xc3, 0x7d],
  "\ufffd is a character like any other",
  "\u2028\u2029\u0085",
];

function record(chunks: Iterable<Uint8Array>, keepsSecrets = true): RecordedEvent[] {
  let text = "";
  const recorder = new Recorder({ keepsSecrets, write: (lines) => text += lines });
  let at = 0;
  for (const chunk of chunks) recorder.take("server", chunk, at += 0.123456);
  recorder.end("server", at);
  const lines = text.split("\n");
  assert.equal(lines.pop(), "", "every event ends with a line feed");
  return lines.map((line) => {
    JSON.parse(line);
    return parseEvent(line)!;
  });
}

function failWith(error: unknown): void {
  assert.fail(String(error));
}

function backlogOf(recorder: Recorder, clock: Clock, onFailed: (error: unknown) => void): BacklogSettings {
  return {
    recorder,
    clock,
    elapsedMs: () => clock.now(),
    onFailed,
    isFull: () => false,
    hasRoom: () => Promise.resolve(),
  };
}

function bytesFrom(events: readonly RecordedEvent[]): Uint8Array {
  return bytesOf(...events.filter((event) => event.kind === "line").map(bytesOfLine));
}

test("a recording gives back the very bytes, however they came: messages, text, bad UTF-8, a last line without its end (L4)", () => {
  for (const end of ["\n", ""]) {
    const bytes = bytesOf(...LINES.flatMap((line) => [line, "\n"]), '{"jsonrpc":"2.0"', end);
    for (const chunks of everyCut(bytes)) assert.deepEqual(bytesFrom(record(chunks)), bytes);
  }
});

test("a recording gives back random bytes (L4)", () => {
  const random = createRandom(7);
  for (let round = 0; round < 40; round++) {
    const bytes = Uint8Array.from({ length: 400 }, () => random.oneIn(6) ? 10 : random.below(256));
    assert.deepEqual(bytesFrom(record(randomCuts(bytes, random))), bytes);
  }
});

test("a line without an end is put down in pieces that hold no half characters, and memory for it stays flat (L4)", () => {
  // Ten bytes each, and chunks that end anywhere in them.
  const bytes = new TextEncoder().encode("é€😀x".repeat(1_900_000));
  const pieces: Array<{ length: number; isEnded: boolean }> = [];
  const cutter = new LineCutter({
    text: (text, isEnded) => pieces.push({ length: text.length, isEnded }),
    bytes: () => assert.fail("a character was cut"),
  });
  for (let at = 0; at < bytes.length; at += 65_537) cutter.push(bytes.subarray(at, at + 65_537));
  cutter.push(bytesOf("\n{}\n"));
  assert.ok(pieces.length > 3 && pieces.slice(0, -2).every(({ isEnded }) => !isEnded));
  assert.equal(pieces.reduce((sum, { length }) => sum + length, 0), 1_900_000 * 5 + 2);
  assert.deepEqual(pieces.at(-1), { length: 2, isEnded: true });
});

test("parseEvent() reads what others have written anew, and no line that is none", () => {
  const line = parseEvent('{"from":"client","message":{"jsonrpc":"2.0","method":"x"},"t":1.5}') as LineEvent;
  assert.equal(line.text, '{"jsonrpc":"2.0","method":"x"}');
  for (
    const text of [
      "",
      "{",
      "5",
      "null",
      "{}",
      '{"t":1}',
      '{"t":1,"from":"nobody","text":""}',
      '{"t":"1","kind":"exit"}',
    ]
  ) {
    assert.equal(parseEvent(text), undefined, text);
  }
  assert.equal(parseEvent('{"t":1,"from":"server","base64":"%"}'), undefined);
  assert.deepEqual(parseEvent('{"t":1,"kind":"exit","code":0}'), { t: 1, kind: "exit", code: 0 });
});

const SECRETS: ReadonlyArray<readonly [value: unknown, secret: string]> = [
  [{ params: { password: "hunter22" } }, "hunter22"],
  [{ api_key: 'a\\b"c' }, 'c"'],
  [{ text: "first\nsk-AbCdEf0123456789xyz" }, "AbCdEf0123456789xyz"],
  [{ text: JSON.stringify({ token: "topsecret" }) }, "topsecret"],
  [{ text: JSON.stringify({ deep: JSON.stringify({ token: "topsecret" }) }) }, "topsecret"],
  [["postgres://me:topsecret@host/db"], "topsecret"],
  [{ text: "-----BEGIN RSA PRIVATE KEY-----\nTopSecret\n-----END RSA PRIVATE KEY-----" }, "TopSecret"],
  [{ a: { b: [{ header: "Authorization: Bearer abcdef123456789" }] } }, "abcdef123456789"],
  ["pwd=x1y2", "x1y2"],
];

for (const [value, secret] of SECRETS) {
  test(`maskMessage() takes the secret out of ${JSON.stringify(value).slice(0, 60)}, and JSON stays JSON (L6)`, () => {
    assert.equal(mayHoldSecret(value), true);
    const masked = maskMessage(JSON.stringify(value));
    JSON.parse(masked);
    assert.ok(!masked.includes(secret), masked);
    assert.ok(masked.includes("…"), masked);
  });
}

test("mayHoldSecret() errs on the side of yes: whatever maskSecrets() changes it has named (L6)", () => {
  const random = createRandom(3);
  const parts = [
    "password",
    "token",
    "api_key",
    "auth",
    ":",
    "=",
    " ",
    '"',
    "sk-",
    "ghp_",
    "AKIA",
    "Ab0",
    "xyzXYZ123456",
    "Bearer ",
    "https://",
    "@",
    "-----BEGIN PRIVATE KEY-----",
    "\n",
    "{",
    "},",
    "true",
  ];
  let changed = 0;
  for (let round = 0; round < 20_000; round++) {
    const words = Array.from({ length: 1 + random.below(6) }, () => random.pick(parts)).join("");
    const value = random.oneIn(2) ? { [random.pick(parts)]: words } : [words];
    const json = JSON.stringify(value);
    if (maskSecrets(json) === json) continue;
    changed++;
    assert.equal(mayHoldSecret(value), true, json);
  }
  assert.ok(changed > 500, `${changed} of the texts held a secret`);
});

test("mayHoldSecret() survives any depth and any names (L6)", () => {
  let deep: unknown = "plain";
  for (let level = 0; level < 5_000; level++) deep = level % 2 === 0 ? [deep] : { a: deep };
  assert.equal(mayHoldSecret(deep), true);
  assert.equal(
    mayHoldSecret({ text: "x".repeat(1_000), number: 5, nothing: null, list: [true, "short"] }),
    false,
  );
});

test("a secret is masked in what is recorded, not in the rest of the line, and --keep-secrets leaves it (L6)", () => {
  const line = '{"id":  1.0, "params": {"token": "topsecret", "other": "\\u0041"}}';
  const [masked] = record([bytesOf(line, "\n")], false) as [LineEvent];
  assert.equal(masked.text, line.replace("topsecret", "…"));
  assert.equal(masked.isMasked, true);
  const [kept] = record([bytesOf(line, "\n")]) as [LineEvent];
  assert.deepEqual([kept.text, kept.isMasked], [line, false]);
  const broken = record([bytesOf("password=topsecret ", [0xff], "\n")], false)[0] as LineEvent;
  assert.equal(broken.text, "password=… \ufffd");
  assert.equal(broken.bytes, undefined);
});

test("what breaks a rule is marked on its line (L4)", () => {
  const marks =
    (record(LINES.map((line) => bytesOf(line, "\n"))).filter(({ kind }) => kind === "line") as LineEvent[])
      .map(({ breaks }) => breaks.join("; "));
  const expected = [
    /a request from|^$|neither/,
    /never made/,
    /carriage return/,
    /blank line/,
    /blank line/,
    /byte order mark/,
    /no JSON$/,
    /no JSON$/,
    /no JSON-RPC message/,
    /batch/,
    /no JSON-RPC message: not a JSON object/,
    /no UTF-8/,
    /no UTF-8/,
    /no JSON$/,
    /no JSON$/,
  ];
  for (const [index, pattern] of expected.entries()) {
    assert.match(marks[index]!, pattern, String(LINES[index]));
  }
});

test("the backlog is worked off in a breath, never before what was still to be read, and late at most (L4)", async () => {
  const clock = new StepClock();
  const taken: string[] = [];
  const recorder = {
    take: (_from: string, chunk: Uint8Array) => taken.push(String(chunk[0])),
  } as unknown as Recorder;
  const backlog = new Backlog(backlogOf(recorder, clock, failWith));
  backlog.take("client", bytesOf([1]));
  clock.advance(4);
  assert.deepEqual(taken, [], "something came since the last look");
  backlog.take("client", bytesOf([2]));
  clock.advance(4);
  assert.deepEqual(taken, []);
  clock.advance(4);
  assert.deepEqual(taken, ["1", "2"]);
  // Without a breath the oldest is done after ten seconds.
  for (let ms = 0; ms < 11_000 && taken.length === 2; ms += 2) {
    backlog.take("client", bytesOf([3]));
    clock.advance(2);
  }
  assert.ok(clock.now() >= 10_000 && taken.length > 2);
  await backlog.finish();
  assert.equal(clock.pending, 0);
});

test("the backlog is bounded, and a fault of the recorder ends the recording and nothing else (L4)", async () => {
  const clock = new StepClock();
  let bytes = 0;
  const counting = {
    take: (_from: string, chunk: Uint8Array) => bytes += chunk.length,
  } as unknown as Recorder;
  const backlog = new Backlog(backlogOf(counting, clock, failWith));
  const chunk = new Uint8Array(1_048_576);
  for (let count = 0; count < 200; count++) backlog.take("server", chunk);
  assert.ok(bytes >= 100 * chunk.length, `${bytes} bytes were looked at`);
  const faults: unknown[] = [];
  const broken = {
    take: () => {
      throw new Error("a fault");
    },
  } as unknown as Recorder;
  const failing = new Backlog(backlogOf(broken, clock, (error) => faults.push(error)));
  failing.take("client", chunk);
  await failing.finish();
  assert.match(String(faults[0]), /a fault/);
});

test("the backlog waits for a slow file, also at the end (L4)", async () => {
  const clock = new StepClock();
  let taken = 0;
  let isFull = true;
  const recorder = { take: () => taken++ } as unknown as Recorder;
  const backlog = new Backlog({
    ...backlogOf(recorder, clock, failWith),
    isFull: () => isFull,
    hasRoom: () => {
      isFull = false;
      return Promise.resolve();
    },
  });
  backlog.take("client", bytesOf([1]));
  clock.advance(20_000);
  assert.equal(taken, 0);
  const finished = backlog.finish();
  assert.equal(taken, 0);
  await finished;
  assert.equal(taken, 1);
});

test("the event log writes together, counts what a slow file does not take, and gives up when it fails (L4)", async () => {
  const clock = new StepClock();
  const written = new Array<string>();
  let taking = createDeferred();
  const file = {
    append: (text: string) => {
      written.push(text);
      return taking.promise;
    },
    close: () => Promise.resolve(),
  };
  const failures: unknown[] = [];
  const log = new EventLog(file, {
    clock,
    elapsedMs: () => clock.now(),
    onFailed: (error) => failures.push(error),
  });
  log.write("a\n");
  log.write("b\n");
  assert.equal(written.length, 0);
  clock.advance(20);
  assert.equal(written.join("|"), "a\nb\n");
  const line = `${"x".repeat(1_000_000)}\n`;
  for (let count = 0; count < 100; count++) log.write(line);
  assert.equal(log.isFull, true);
  taking.resolve();
  await nextTurn();
  const gap = JSON.parse(written[1]!.trimEnd().split("\n").at(-1)!);
  assert.equal(gap.kind, "gap");
  assert.equal(written[1]!.split("\n").length - 2 + gap.events, 100);
  taking = createDeferred();
  log.write("c\n");
  const closing = log.close();
  taking.reject(new Error("the disk is full"));
  await closing;
  log.write("d\n");
  assert.equal(failures.length, 1);
  assert.equal(clock.pending, 0);
});

test("RecentMap forgets the oldest, also of keys that were set again", () => {
  const map = new RecentMap<string, number>(3);
  for (const [index, key] of ["a", "b", "a", "c", "d"].entries()) map.set(key, index);
  assert.deepEqual(["a", "b", "c", "d"].map((key) => map.get(key)), [2, undefined, 3, 4]);
  map.set("e", 5);
  assert.equal(map.get("a"), undefined);
});
