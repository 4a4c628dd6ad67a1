import assert from "node:assert/strict";
import { test } from "node:test";
import { type CommandLineOptions, formatCommandLine, quoteText } from "../internal/command_line.ts";

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

test("formatCommandLine() shows the working directory (H3)", () => {
  assert.equal(formatCommandLine({ command: "a", args: [], cwd: "/x y" }), "(in '/x y') a");
});

test("formatCommandLine() quotes a command that would read as a variable (H3)", () => {
  assert.equal(format(["x=1"], {}, "PATH=/evil"), "'PATH=/evil' x=1");
  assert.equal(format([], { os: "windows" }, "a=b"), '"a=b"');
  assert.equal(format([], {}, "TOKEN=…"), "'TOKEN=…'");
});

test("formatCommandLine() cuts a long word in its middle and counts what is missing (H3)", () => {
  const line = format([`${"a".repeat(5000)}; rm -rf ${"b".repeat(5000)}`]);
  assert.match(line, /^run a{472}\[9065 more characters\]b{472}$/);
  assert.match(format(["🦕".repeat(5000)]), /^run '(🦕)+'\[\d+ more characters\]'(🦕)+'$/u);
});

test("formatCommandLine() counts arguments and variables that have no room, and always shows the command (H3)", () => {
  const env = Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`NAME_${index}`, "x"]));
  const args = Array.from({ length: 9000 }, (_, index) => `argument-${index}`);
  const line = formatCommandLine({ command: "/bin/sh", args, env });
  assert.match(
    line,
    /^NAME_0=… .* \[\d{4} more variables\] \/bin\/sh argument-0 .* \[\d{4} more arguments\]$/,
  );
});

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
});
