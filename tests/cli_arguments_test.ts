// Arguments to values, and what is said of those that cannot be used.
import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest, parseArguments, parseDurationMs } from "../internal/cli/arguments.ts";
import { type OptionSpecs, UsageError } from "../internal/cli/command.ts";

const SPECS: OptionSpecs = {
  json: { kind: "flag", choices: ["lines"], help: "" },
  quiet: { kind: "flag", short: "q", help: "" },
  env: { kind: "values", placeholder: "NAME=VALUE", help: "" },
  era: { kind: "value", choices: ["auto", "modern"], help: "" },
  timeout: { kind: "value", placeholder: "DURATION", help: "" },
};

test("parseArguments() reads words and options in any order, and leaves what stands behind -- as it is", () => {
  const { words, options, rest } = parseArguments(
    [
      "one",
      "--env",
      "A=1",
      "two",
      "-q",
      "--env=B=2",
      "--timeout",
      "5",
      "--timeout",
      "6",
      "--",
      "x",
      "--",
      "-q",
    ],
    SPECS,
  );
  assert.deepEqual(words, ["one", "two"]);
  assert.deepEqual(options.values("env"), ["A=1", "B=2"]);
  assert.equal(options.value("timeout"), "6");
  assert.equal(options.has("quiet"), true);
  assert.equal(options.has("json"), false);
  assert.equal(options.value("era"), undefined);
  assert.deepEqual(rest, ["x", "--", "-q"]);
  assert.equal(parseArguments(["a"], SPECS).rest, undefined);
  assert.deepEqual(parseArguments(["--"], SPECS).rest, []);
});

test("parseArguments() takes a flag with one of its values or without", () => {
  assert.equal(parseArguments(["--json"], SPECS).options.has("json"), true);
  assert.equal(parseArguments(["--json"], SPECS).options.value("json"), undefined);
  assert.equal(parseArguments(["--json=lines"], SPECS).options.value("json"), "lines");
});

const WRONG: ReadonlyArray<readonly [args: string[], message: RegExp]> = [
  [["--jsno"], /^Cannot use --jsno: there is no such option, but --json$/],
  [["--nothing-like-it"], /^Cannot use --nothing-like-it: there is no such option$/],
  [["--constructor"], /no such option/],
  [["-x"], /^Cannot use -x: there is no such option/],
  [["--timeout"], /^Cannot use --timeout: it needs a value, as in --timeout DURATION$/],
  [["--quiet=yes"], /^Cannot use --quiet=yes: the option takes no value$/],
  [["--era", "old"], /^Cannot use --era "old": it is one of auto, modern$/],
  [["--json=rows"], /^Cannot use --json "rows": it is one of lines$/],
];

for (const [args, message] of WRONG) {
  test(`parseArguments() refuses ${args.join(" ")} and says why`, () => {
    assert.throws(() => parseArguments(args, SPECS), (error: unknown) => {
      assert.ok(error instanceof UsageError);
      assert.match(error.message, message);
      return true;
    });
  });
}

test("parseDurationMs() reads seconds, and other units where they are written", () => {
  const rows: ReadonlyArray<readonly [string, number]> = [
    ["5", 5_000],
    ["1.5s", 1_500],
    ["500ms", 500],
    ["2m", 120_000],
    ["1h", 3_600_000],
    ["0", 0],
  ];
  for (const [text, expected] of rows) assert.equal(parseDurationMs("--timeout", text), expected, text);
  for (const text of ["", "fast", "-1", "1d", "1e3", "5 s", "NaN", "Infinity"]) {
    assert.throws(() => parseDurationMs("--timeout", text), /Cannot use --timeout/, text);
  }
});

test("nearest() gives the name that was likely meant, and none for what is far from all", () => {
  const names = ["list", "call", "record", "replay"];
  assert.equal(nearest("lsit", names), "list");
  assert.equal(nearest("recrod", names), "record");
  assert.equal(nearest("xyz", names), undefined);
  assert.equal(nearest("r".repeat(1_000_000), names), undefined);
});
