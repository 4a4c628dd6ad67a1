// A served process whose host is killed (rules V11, V15).
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { legacy, SLOW } from "./server_helpers.ts";
import {
  cpuMs,
  isAlive,
  pause,
  SECOND_UNDER_LOAD_MS,
  type ServerProcess,
  startInShell,
} from "./server_processes.ts";

const LIFE = "tests/fixtures/server_life";
const POSIX = { ...SLOW, skip: process.platform === "win32" ? "needs a POSIX shell" : false } as const;
const MEASURED = {
  ...SLOW,
  skip: process.platform === "linux" && existsSync("/proc/self/stat") ? false : "there is no /proc",
} as const;

/**
 * A host that passes its input on to the server, and when it is killed dies without a word. `$HELPER` is what else holds
 * its end of the server's input.
 */
const HOST =
  'fifo=$(mktemp -u); mkfifo $fifo; "$@" <$fifo & echo "server $!" >&2; exec 4>$fifo; rm $fifo; $HELPER exec cat >&4';

async function killHost(
  t: TestContext,
  helper: string,
  settings: object,
): Promise<{ host: ServerProcess; pid: number }> {
  const host = startInShell(t, LIFE, HOST.replace("$HELPER", helper), [JSON.stringify(settings)]);
  host.send(legacy("ready", "ping"));
  await host.response("ready");
  const pid = Number(/server (\d+)/.exec(host.stderr)?.[1]);
  t.after(() => isAlive(pid) && process.kill(pid, "SIGKILL"));
  host.kill("SIGKILL");
  return { host, pid };
}

test("A server whose host is killed sees the end of its input, and ends (V11, B27)", POSIX, async (t) => {
  const { host, pid } = await killHost(t, "", { keep: "timer", lingerMs: 100 });
  await host.until(() => !isAlive(pid), "the end of the server", SECOND_UNDER_LOAD_MS);
  await host.saying("served: eof\n");
});

test(
  "A process that stays after its host was killed does not spin on its dead input (V11, B27)",
  MEASURED,
  async (t) => {
    const { host, pid } = await killHost(t, "", { keep: "timer", lingerMs: -1 });
    await host.saying("served: eof\n");
    const before = cpuMs(pid);
    await pause(2_000);
    const used = cpuMs(pid) - before;
    // It holds the pipes whose end the test waits for.
    process.kill(pid, "SIGKILL");
    assert.ok(used < 100, `${used} ms of 2 000`);
  },
);

test(
  "With parentCheckMs a server ends with its host although somebody holds the pipe (V15, B48)",
  POSIX,
  async (t) => {
    const { host, pid } = await killHost(t, "sleep 8 >&4 2>&4 &", { parentCheckMs: 100 });
    await host.until(() => !isAlive(pid), "the end of the server", SECOND_UNDER_LOAD_MS);
    await host.saying("served: parent_exited\n");
  },
);

test("Without parentCheckMs it stays as long as somebody holds the pipe (V15, B48)", POSIX, async (t) => {
  const { host, pid } = await killHost(t, "sleep 2 >&4 2>&4 &", {});
  await pause(700);
  assert.equal(isAlive(pid), true);
  assert.doesNotMatch(host.stderr, /served/);
  await host.saying("served: eof\n");
});
