import assert from "node:assert/strict";
import { test } from "node:test";
import { ProcessError } from "../errors.ts";
import { type Executable, findExecutable, isBatchFile } from "../internal/windows/executable_search.ts";
import { buildStart } from "../internal/windows/start.ts";
import { buildTreeKill } from "../internal/windows/system_programs.ts";
import {
  expandPercent,
  quoteProgramArgument,
  runCmd,
  runShim,
  splitByRuntime,
  splitByShell,
} from "./_windows_model.ts";
import { rounds } from "./helpers.ts";

const HOSTILE_ENV = { PATH: "C:\\bin", CD: "& calc.exe", TMP: '" & calc.exe & "', X: "1", a: "b" };
const SHIM = "C:\\Program Files\\nodejs\\npx.cmd";

function start(args: readonly string[], path: string = SHIM): readonly string[] {
  return buildStart({ path, kind: "batch" }, args, "C:\\Windows").args;
}

// ---- PATHEXT search

interface SearchRow {
  readonly title: string;
  readonly command: string;
  readonly files: readonly string[];
  readonly path?: string;
  readonly pathExt?: string;
  readonly found: Executable | undefined;
}
const npx = { path: "C:\\nodejs\\npx.cmd", kind: "batch" } as const;
const rows: readonly SearchRow[] = [
  {
    title: "npx.cmd for npx, not the shell script beside it (B122)",
    command: "npx",
    files: ["C:\\nodejs\\npx", "C:\\nodejs\\npx.ps1", "C:\\nodejs\\npx.cmd"],
    found: npx,
  },
  {
    title: "npx.cmd by its full name (B122)",
    command: "npx.cmd",
    files: ["C:\\nodejs\\npx.cmd"],
    found: npx,
  },
  {
    title: "npx.cmd although PATHEXT lists .PS1 first (B122)",
    command: "npx",
    files: ["C:\\nodejs\\npx.ps1", "C:\\nodejs\\npx.cmd"],
    pathExt: ".PS1;.CMD;.EXE",
    found: npx,
  },
  {
    title: "an exe as a program, which needs no cmd.exe (B122)",
    command: "uvx",
    files: ["C:\\uv\\uvx.exe"],
    found: { path: "C:\\uv\\uvx.exe", kind: "program" },
  },
  {
    title: "the first folder's file whatever its extension",
    command: "tool",
    files: ["C:\\uv\\tool.exe", "C:\\nodejs\\tool.cmd"],
    found: { path: "C:\\nodejs\\tool.cmd", kind: "batch" },
  },
  {
    title: "within a folder the first extension of PATHEXT",
    command: "tool",
    files: ["C:\\uv\\tool.exe", "C:\\uv\\tool.bat"],
    pathExt: ".bat; .exe",
    found: { path: "C:\\uv\\tool.bat", kind: "batch" },
  },
  {
    title: "startable extensions when PATHEXT holds none",
    command: "tool",
    files: ["C:\\uv\\tool.exe"],
    pathExt: ".PY;.JS",
    found: { path: "C:\\uv\\tool.exe", kind: "program" },
  },
  {
    title: "python3.11.exe for a name with a dot",
    command: "python3.11",
    files: ["C:\\uv\\python3.11", "C:\\uv\\python3.11.exe"],
    found: { path: "C:\\uv\\python3.11.exe", kind: "program" },
  },
  {
    title: "a folder in quotes, with a semicolon and a slash at its end",
    command: "npx",
    path: '"C:\\a;b\\";C:\\nodejs',
    files: ["C:\\a;b\\npx.cmd"],
    found: { path: "C:\\a;b\\npx.cmd", kind: "batch" },
  },
  {
    title: "nothing in the working directory for a name",
    command: "npx",
    files: ["D:\\work\\npx.cmd"],
    found: undefined,
  },
  {
    title: "a path from the working directory",
    command: ".\\server",
    files: ["D:\\work\\.\\server.cmd"],
    found: { path: "D:\\work\\.\\server.cmd", kind: "batch" },
  },
  {
    title: "a path with slashes",
    command: "bin/server.exe",
    files: ["D:\\work\\bin/server.exe"],
    found: { path: "D:\\work\\bin/server.exe", kind: "program" },
  },
  {
    title: "an absolute path",
    command: "E:\\x y\\server.BAT",
    files: ["E:\\x y\\server.BAT"],
    found: { path: "E:\\x y\\server.BAT", kind: "batch" },
  },
  {
    title: "a path from the root of the drive",
    command: "\\tools\\a.exe",
    files: ["D:\\tools\\a.exe"],
    found: { path: "D:\\tools\\a.exe", kind: "program" },
  },
  {
    title: "a network path",
    command: "\\\\host\\share\\a.exe",
    files: ["\\\\host\\share\\a.exe"],
    found: { path: "\\\\host\\share\\a.exe", kind: "program" },
  },
  { title: "nothing for an empty command", command: "", files: ["C:\\nodejs\\.exe"], found: undefined },
  {
    title: "nothing without PATH",
    command: "npx",
    path: "",
    files: ["C:\\nodejs\\npx.cmd"],
    found: undefined,
  },
];
for (const { title, command, files, path = "C:\\nodejs\\;;C:\\uv", pathExt, found } of rows) {
  test(`findExecutable() finds ${title} (P11)`, async () => {
    const isFile = (candidate: string) => Promise.resolve(files.includes(candidate));
    assert.deepEqual(await findExecutable({ command, path, pathExt, cwd: "D:\\work", isFile }), found);
  });
}

const batchNames: readonly [path: string, isBatch: boolean][] = [
  ["a.cmd", true],
  ["A.BAT", true],
  ["a.cmd.", true],
  ["a.bat. . ", true],
  ["a.cmd.exe", false],
  ["cmd", false],
  ["a.command", false],
];
for (const [path, isBatch] of batchNames) {
  test(`isBatchFile() says ${isBatch} for "${path}" (P11)`, () => assert.equal(isBatchFile(path), isBatch));
}

// ---- batch files

test("buildStart() starts a batch file through cmd.exe of the system folder (P11, B122)", () => {
  assert.deepEqual(buildStart({ path: SHIM, kind: "batch" }, ["-y", "a b", "c&d"], "C:\\WINNT"), {
    command: "C:\\WINNT\\System32\\cmd.exe",
    args: ["/d", "/e:on", "/v:off", "/s", "/c", `""${SHIM}" -y "a b" "c&d""`],
    verbatimArguments: true,
  });
});

test("buildStart() starts a program as it is, with its arguments unquoted (P11, B122)", () => {
  const args = ["a b", 'c"d', "%PATH%", "line\nbreak"];
  assert.deepEqual(buildStart({ path: "C:\\uv\\uvx.exe", kind: "program" }, args, undefined), {
    command: "C:\\uv\\uvx.exe",
    args,
    verbatimArguments: false,
  });
});

test("buildStart() takes the usual system folder for a root that is missing or no absolute path (P11)", () => {
  for (const root of [undefined, "", "evil", "..\\evil"]) {
    assert.equal(
      buildStart({ path: SHIM, kind: "batch" }, [], root).command,
      "C:\\Windows\\System32\\cmd.exe",
    );
  }
});

const roundTrips: readonly (readonly string[])[] = [
  ["a b", 'c"d', "e\\", "f^g", "%PATH%", "h&i", "j|k", "!x!", "", "ü 漢"],
  [],
  [""],
  ["", "", ""],
  ["-y", "@scope/server@latest", "--port=3000", "C:\\a\\b", "https://x.test/?a=1&b=2"],
  ['{"a":"b c","d":["e\\\\f","%TMP%"]}'],
  ['"', '""', '\\"', '\\\\"', '" "', '"a b"', 'a"b"c'],
  ["\\", "\\\\", "a\\ ", "a b\\", "a b\\\\", '\\\\server\\share\\"x" y'],
  ['"&calc.exe', '" & calc.exe & "', '\\"&calc.exe&\\"', '"|calc.exe', '">C:\\x', '"<C:\\x'],
  ["%", "%%", "%%%", "%PATH", "PATH%", "%CD%", "%cd:~0,1%", "%X:1=2%", "%CMDCMDLINE:~-1%&calc.exe", "%TMP%"],
  ["^", "^^", "^&", '^"&calc.exe', "a^", "^ b"],
  ["(", ")", "(a)", "a,b;c=d", "~", "`x`", "'x y'", "[x]", "{x}", "@echo off", ":label", "%*", "%1", "%~dp0"],
  ["\t", "a\tb", " ", "  a  ", "\v", "\u00a0", "\u3000", "\u2028"],
  ["ünïcode", "漢字", "🦕 🦕", "\u202e", "\uff02&calc.exe"],
];
for (const args of roundTrips) {
  test(`buildStart() passes ${JSON.stringify(args)} through a shim unchanged (P11, B123)`, () => {
    assert.deepEqual(runShim(SHIM, start(args), HOSTILE_ENV), args);
    assert.deepEqual(runShim(SHIM, start(args), {}), args);
  });
}

test("buildStart() passes random arguments through a shim unchanged (P11, B123)", () => {
  const random = createRandom(20260728);
  const alphabet = [
    ...'ab \t"""\\\\%%%^^&|<>()!=,;:~*?@\'`+-./#$X',
    "ü",
    "漢",
    "🦕",
    "PATH",
    "cd:~,",
    "&calc ",
  ];
  for (let round = 0; round < rounds(20_000); round++) {
    const args = Array.from(
      { length: random(5) },
      () => Array.from({ length: random(12) }, () => alphabet[random(alphabet.length)]).join(""),
    );
    assert.deepEqual(runShim(SHIM, start(args), HOSTILE_ENV), args, JSON.stringify(args));
  }
});

test("buildStart() leaves plain words bare, since batch files compare them (P11)", () => {
  assert.match(
    start(["-y", "--a/b:c.d_e", "@s/p@1.0", "C:\\x"]).at(-1) ?? "",
    / -y --a\/b:c\.d_e @s\/p@1\.0 C:\\x"$/,
  );
});

for (
  const path of [
    "C:\\100%PATH%\\npx.cmd",
    "C:\\a & b (x)\\n^x!.cmd",
    "C:\\ü 漢\\npx.bat",
    "\\\\h\\s\\a.cmd. ",
  ]
) {
  test(`buildStart() names the batch file "${path}" exactly (P11, B123)`, () => {
    assert.deepEqual(runShim(path, start(["a b"], path), HOSTILE_ENV), ["a b"]);
  });
}

test("buildStart() writes a batch file's path with backslashes (P11)", () => {
  assert.deepEqual(runShim("C:\\x\\a.cmd", start(["/c"], "C:/x/a.cmd"), {}), ["/c"]);
});

const refusals: readonly [title: string, args: string[], path: string, message: RegExp][] = [
  ["NUL", ["ok", "hush\0"], SHIM, /argument 2 holds a NUL character, which cmd\.exe cannot pass/],
  ["CR", ["hush\r"], SHIM, /argument 1 holds a line break, which cmd\.exe cannot pass/],
  ["LF", ["hush\ncalc.exe"], SHIM, /argument 1 holds a line break, which cmd\.exe cannot pass/],
  ["more than cmd.exe takes", ["hush".repeat(2050)], SHIM, /has 82\d\d characters, and cmd\.exe takes 8191/],
  ["a quote in the path", [], 'C:\\x"&calc.exe&".cmd', /the path of a batch file cannot hold quotes/],
  [
    "a line break in the path",
    [],
    "C:\\x\n.cmd",
    /the path of a batch file cannot hold .*control characters/,
  ],
];
for (const [title, args, path, message] of refusals) {
  test(`buildStart() refuses ${title} for a batch file and says why, without the argument (P11, S2-50)`, () => {
    assert.throws(() => start(args, path), (error: unknown) => {
      assert.ok(error instanceof ProcessError);
      assert.equal(error.code, "invalid_argument");
      assert.equal(error.command, path);
      assert.deepEqual(error.args, args);
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /hush/);
      return true;
    });
  });
}

// ---- programs

test("quoteProgramArgument() leaves words bare and escapes quotes by backslashes (P11)", () => {
  assert.deepEqual(["a", "C:\\a\\", "", "a b", 'a"b', "a b\\", 'a\\"b'].map(quoteProgramArgument), [
    "a",
    "C:\\a\\",
    '""',
    '"a b"',
    '"a\\"b"',
    '"a b\\\\"',
    '"a\\\\\\"b"',
  ]);
});

test("quoteProgramArgument() is read back alike by both splitters, also for random arguments (P11)", () => {
  const random = createRandom(7);
  const alphabet = [...'ab \t\n"""\\\\\\%^&', "ü", "漢"];
  const given = [...roundTrips];
  for (let round = 0; round < 5_000; round++) {
    given.push(
      Array.from(
        { length: random(4) },
        () => Array.from({ length: random(10) }, () => alphabet[random(alphabet.length)]).join(""),
      ),
    );
  }
  for (const args of given) {
    const line = ["a.exe", ...args.map(quoteProgramArgument)].join(" ");
    assert.deepEqual(splitByRuntime(line).slice(1), args, line);
    assert.deepEqual(splitByShell(line).slice(1), args, line);
  }
});

// ---- ends

test("buildTreeKill() ends the tree by taskkill of the system folder (P11, B125)", () => {
  assert.deepEqual(buildTreeKill(4711, "D:\\Windows\\"), {
    command: "D:\\Windows\\System32\\taskkill.exe",
    args: ["/PID", "4711", "/T", "/F"],
    verbatimArguments: false,
  });
});

for (const pid of [0, -1, 1.5, NaN]) {
  test(`buildTreeKill() refuses the process id ${pid} (P11)`, () => {
    assert.throws(() => buildTreeKill(pid, undefined), RangeError);
  });
}

// ---- the model itself: what it must see, so that the tests above mean something

test("the model of cmd.exe sees the injection that quoting for programs allows (CVE-2024-24576)", () => {
  const naive = ["/d", "/e:on", "/s", "/c", `""a.cmd" ${quoteProgramArgument('"&calc.exe')}"`];
  assert.deepEqual(runCmd(naive, {}).map(({ text }) => text), ['"a.cmd" "\\"', 'calc.exe"']);
  assert.equal(runShim("a.cmd", naive, {}), undefined);
});

test("the model of cmd.exe sees a caret that lasts for one reading only", () => {
  const once = ["/d", "/e:on", "/s", "/c", `""a.cmd" x^&calc.exe"`];
  assert.equal(runCmd(once, {}).length, 1);
  assert.equal(runShim("a.cmd", once, {}), undefined);
});

const expansions: readonly [line: string, expanded: string][] = [
  ["%PATH%", "P"],
  ["%path%", "P"],
  ['"%PATH%"', '"P"'],
  ["%NO%", "%NO%"],
  ["%%PATH%%", "%P%"],
  ["^%PATH%", "^P"],
  ["100% %PATH%", "100% P"],
  ["%PATH:~0,1%%PATH:~1%%PATH:~,%", "P"],
  ["%PATH:P=Q%", "Q"],
  ["%NO:~0,1%", "%NO:~0,1%"],
  ["%cd%", "C:\\current"],
  ["%cd:~,%", ""],
  ["%", "%"],
];
for (const [line, expanded] of expansions) {
  test(`the model of cmd.exe expands ${line} to "${expanded}"`, () => {
    assert.equal(expandPercent(line, { PATH: "P" }), expanded);
  });
}

test("the model of cmd.exe expands no substring without command extensions", () => {
  assert.equal(expandPercent("%%cd:~,%", { PATH: "P" }, false), "%%cd:~,%");
});

const splits: readonly [line: string, runtime: string[], shell: string[]][] = [
  ['x "a b" c', ["x", "a b", "c"], ["x", "a b", "c"]],
  ['"x y" a\\\\b "a\\\\" \\" ""', ["x y", "a\\\\b", "a\\", '"', ""], ["x y", "a\\\\b", "a\\", '"', ""]],
  ['x "a""b c" d', ["x", 'a"b c', "d"], ["x", 'a"b', "c d"]],
];
for (const [line, runtime, shell] of splits) {
  test(`the model splits ${line} as Windows does`, () => {
    assert.deepEqual(splitByRuntime(line), runtime);
    assert.deepEqual(splitByShell(line), shell);
  });
}

/** A small generator with a seed (mulberry32): `random(n)` is below `n`. */
function createRandom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}
