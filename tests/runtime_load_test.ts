// What bundlers ask of the adapters: in one file all of them are loaded, whatever the runtime is.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { SLOW } from "./server_helpers.ts";
import { commandOf } from "./server_processes.ts";

test("No adapter, and nothing that starts processes, does work when it is loaded (XF6)", SLOW, () => {
  const [command = "", ...args] = commandOf("tests/fixtures/loads_adapters");
  const said = execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  // `Deno` and `Bun` are looked up and kept, which is nothing where they are not.
  assert.deepEqual(JSON.parse(said).filter((name: string) => name === "process"), []);
});
