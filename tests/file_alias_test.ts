import assert from "node:assert/strict";
import { test } from "node:test";
import { isFileOrAlias } from "../internal/runtime/files.ts";

const FILE = { isFile: () => true };
const FOLDER = { isFile: () => false };
const LINK = { isFile: () => false, isSymbolicLink: () => true };
const failing = (facts: object) => () => Promise.reject(Object.assign(new Error("no"), facts));
const giving = (stats: typeof LINK | typeof FILE) => () => Promise.resolve(stats);
const NEVER = () => assert.fail("it is not looked at");

const rows: readonly [what: string, ...Parameters<typeof isFileOrAlias>, expected: boolean][] = [
  ["a file", "windows", giving(FILE), NEVER, true],
  ["a folder", "windows", giving(FOLDER), NEVER, false],
  ["nothing", "windows", failing({ code: "ENOENT" }), NEVER, false],
  ["nothing, of Deno", "windows", failing({ name: "NotFound" }), NEVER, false],
  ["an alias such as python (P11)", "windows", failing({ code: "EACCES" }), giving(LINK), true],
  ["an alias, of Deno (P11)", "windows", failing({ name: "Error" }), giving(LINK), true],
  ["a folder that may not be looked at", "windows", failing({ code: "EACCES" }), giving(FOLDER), false],
  ["what nobody may look at", "windows", failing({ code: "EPERM" }), failing({ code: "EPERM" }), false],
  ["what may not be looked at, on POSIX", "posix", failing({ code: "EACCES" }), NEVER, false],
];
for (const [what, os, stat, lstat, expected] of rows) {
  test(`isFileOrAlias() says ${expected} of ${what}`, async () => {
    assert.equal(await isFileOrAlias(os, stat, lstat), expected);
  });
}
