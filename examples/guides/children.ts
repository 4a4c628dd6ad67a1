// The blocks of docs/stdout.md about child processes. Nothing of what the child prints may reach stdout.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";

const command = process.execPath;
const args = "Deno" in globalThis ? ["eval", "0"] : ["-e", "0"];

//#region child
const child = spawn(command, args, {
  stdio: ["ignore", 2, 2], // no stdin, and both outputs go to your stderr
});
//#endregion
const [code] = await once(child, "close");
assert.equal(code, 0);
