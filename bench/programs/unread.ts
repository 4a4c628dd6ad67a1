// What a server does to memory when its client does not read: asks for many answers, reads none, and tells by how much the
// server has grown. `unread.ts <count> <size> <command…>`; needs /proc.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { REQUEST_META } from "./frames.ts";

const [count, size, ...command] = process.argv.slice(2);
const child = spawn(command[0]!, command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
child.stdin.on("error", () => {}); // The server is killed while it still has requests to read.

// The first answer tells that the server is up and warm.
child.stdin.write(request(0, 10));
await new Promise((resolve) => child.stdout.once("data", resolve));
child.stdout.pause();
const before = residentBytes();

let sent = 0;
const sendMore = () => {
  while (sent < Number(count)) {
    if (!child.stdin.write(request(++sent, Number(size)))) {
      child.stdin.once("drain", sendMore);
      return;
    }
  }
};
sendMore();

// The server has done what it will do when its memory stands still.
let most = 0;
for (let still = 0; still < 8;) {
  await new Promise((resolve) => setTimeout(resolve, 250));
  const now = residentBytes();
  still = now > most * 1.01 ? 0 : still + 1;
  most = Math.max(most, now);
}
process.stdout.write(
  `${JSON.stringify({ beforeMb: before / 2 ** 20, growthMb: (most - before) / 2 ** 20 })}\n`,
);
child.kill("SIGKILL");
process.exit(0);

function request(id: number, size: number): string {
  const params = { name: "echo", arguments: { size }, _meta: REQUEST_META };
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }) + "\n";
}

function residentBytes(): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))![1]) * 1_024;
}
