import assert from "node:assert/strict";
import { test } from "node:test";
import { tellingLines } from "../internal/telling_lines.ts";

const rows: readonly [what: string, stderr: string, told: readonly string[]][] = [
  ["nothing", "\n  \n", []],
  ["the last lines, where none is of an error", "one\ntwo\nthree\n\nfour\n", ["two", "three", "four"]],
  [
    "an error that Node has not caught",
    `[eval]:1
throw new Error('GITHUB_TOKEN is not set')
^

Error: GITHUB_TOKEN is not set
    at [eval]:1:7
    at runScriptInThisContext (node:internal/vm:209:10)
    at node:internal/process/execution:118:14

Node.js v20.20.2
`,
    ["Error: GITHUB_TOKEN is not set"],
  ],
  [
    "a module that Node does not find, whose properties follow",
    `node:internal/modules/cjs/loader:1148
  throw err;
  ^

Error: Cannot find module '/home/me/nofile.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1145:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2
`,
    ["Error: Cannot find module '/home/me/nofile.js'"],
  ],
  [
    "an error on Windows",
    `C:\\srv\\index.js:3\r\n  boot()\r\n  ^\r\n\r\nTypeError: boot is not a function\r\n    at Object.<anonymous> (C:\\srv\\index.js:3:3)\r\n\r\nNode.js v24.21.0\r\n`,
    ["TypeError: boot is not a function"],
  ],
  [
    "an error on Deno, with colours",
    `\x1b[0m\x1b[1m\x1b[31merror\x1b[0m: Uncaught (in promise) Error: no key
throw new Error("no key");
\x1b[0m\x1b[31m      ^\x1b[0m
    at \x1b[0m\x1b[36mfile:///srv/main.ts\x1b[0m:\x1b[0m\x1b[33m1\x1b[0m:\x1b[0m\x1b[33m7\x1b[0m
`,
    ["error: Uncaught (in promise) Error: no key"],
  ],
  [
    "an error on Bun",
    `1 | const key = process.env.KEY;
2 | throw new Error("no key");
          ^
error: no key
      at /srv/main.ts:2:7
      at loadAndEvaluateModule (2:1)

Bun v1.4.5 (Linux x64)
`,
    ["error: no key"],
  ],
  [
    "an exception of Python",
    `Traceback (most recent call last):
  File "/srv/server.py", line 3, in <module>
    import mcp
ModuleNotFoundError: No module named 'mcp'
`,
    ["ModuleNotFoundError: No module named 'mcp'"],
  ],
  [
    "a panic of Go",
    `panic: open config.json: no such file or directory

goroutine 1 [running]:
main.main()
exit status 2
`,
    ["panic: open config.json: no such file or directory", "main.main()"],
  ],
  [
    "a panic of Rust",
    `thread 'main' panicked at src/main.rs:2:5:
no configuration
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace
`,
    ["thread 'main' panicked at src/main.rs:2:5:", "no configuration"],
  ],
  [
    "what npx says of a package that is not there",
    `npm error code E404
npm error 404 Not Found - GET https://registry.npmjs.org/no-such-server - Not found
npm error 404
npm error
npm error A complete log of this run can be found in: /root/.npm/_logs/x.log
`,
    [
      "npm error code E404",
      "npm error 404 Not Found - GET https://registry.npmjs.org/no-such-server - Not found",
      "npm error 404",
    ],
  ],
  [
    "the cause behind an error, with what it was found beside",
    "listening\nError: cannot start\n    at f (/a.js:1:1)\nError: no port\n    at g (/a.js:2:1)\nbye\n",
    ["Error: no port", "bye"],
  ],
  [
    "text with an error in the middle of a line as a line like others",
    "warning: this server has no error handling\nready\n",
    ["warning: this server has no error handling", "ready"],
  ],
  ["what a line of progress came to", "loading 10%\rloading 99%\rloaded\x1b[K\n", ["loaded"]],
  [
    "control characters that are left as they are written in a program",
    "bell \x07 and \u202e turned\ntitle \x1b]0;owned\x07 set\n",
    ["bell \\u0007 and \\u202e turned", "title  set"],
  ],
];
for (const [what, stderr, told] of rows) {
  test(`tellingLines() gives ${what} (XF4)`, () => {
    assert.deepEqual(tellingLines(stderr), told);
  });
}

test("tellingLines() is bounded, and linear in what it is given (XF4)", () => {
  const [line] = tellingLines(`Error: ${"x".repeat(60_000)}`);
  assert.equal(line?.length, 300);
  assert.equal(tellingLines("\x1b[".repeat(30_000)).length, 1);
  assert.deepEqual(tellingLines("    at f (x.js:1:1)\n".repeat(3_000)), []);
});
