// The blocks of docs/testing.md.
import { Client, spawn } from "@mcp/stdio/client";
import { silentLogger } from "@mcp/stdio/logger";
import { Server } from "@mcp/stdio/server";
import { createFakeRuntime, createStreamPair, FakeClock } from "@mcp/stdio/testing";
import assert from "node:assert/strict";

//#region clock
const clock = new FakeClock();
const slow = new Server({
  info: { name: "slow", version: "1.0.0" },
  tools: { wait: { call: () => new Promise<string>(() => {}) } },
  clock,
});
const [here, there] = createStreamPair();
const running = slow.run(there);
const client = await Client.connect(here, { clock });

const outcome = client.callTool("wait").catch((error) => error.message);
await clock.advance(60_000); // a minute passes, in no time
assert.equal(await outcome, 'Cannot await "tools/call" any longer: no answer within 60000 ms (idle)');
//#endregion
await client.close();
await clock.advance(60_000);
assert.equal((await running).reason, "eof");

//#region process
const echo = new Server({
  info: { name: "echo", version: "1.0.0" },
  tools: { echo: { call: ({ text }) => String(text) } },
});
const runtime = createFakeRuntime({
  env: { PATH: "/usr/bin", SECRET: "not passed on" },
  // What runs in the "process" is your server.
  onSpawn: (started) => void echo.run(started),
});
const owner = await spawn({
  command: "some-server",
  args: ["--fast"],
  maxRestarts: 0,
  logger: silentLogger,
  runtime,
});
assert.deepEqual(runtime.processes[0]?.command.env, { PATH: "/usr/bin" });

runtime.processes[0]?.exit({ code: 7 }); // it crashes
await assert.rejects(owner.callTool("echo", { text: "hi" }), {
  code: "connection_closed",
  exit: { code: 7 },
});
//#endregion
await owner.close();
