// The limit: a bare echo server by the fastest means of each runtime, with no regard for anything that can go wrong. What each trick
// is worth, in CPU of both ends, all on one CPU with 64 in flight, on Node 20, Bun and Deno:
//
// - A chunk is decoded at once. Line by line, and strictly, it takes 1.04, 1.13 and 1.31 times as much.
// - Each message is one `JSON.stringify` of what is its own, with an end that is made once: else 1.71, 1.04 and 1.08 times as much.
// - All of a chunk's messages leave in one write. With one at 8 KiB, too, a client takes 1.03, 1.06 and 1.00 times as much.
// - On Node reads flow, and nobody waits for a write.
import { RESULT_META } from "./frames.ts";

interface Request {
  id: number;
  method: string;
  params: { arguments: { text?: string; size?: number } };
}

const ENDING = `,"resultType":"complete","_meta":${JSON.stringify(RESULT_META)}}}\n`;
const DISCOVERED = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };

const decoder = new TextDecoder();
const encoder = new TextEncoder();
let rest: Uint8Array[] = [];

/** Takes a chunk and gives the text to write for it, if any. */
function turn(chunk: Uint8Array): string {
  const last = chunk.lastIndexOf(10);
  if (last === -1) {
    rest.push(chunk.slice());
    return "";
  }
  rest.push(chunk.subarray(0, last));
  const lines = decoder.decode(rest.length === 1 ? rest[0] : join(rest)).split("\n");
  rest = last + 1 === chunk.length ? [] : [chunk.slice(last + 1)];
  let out = "";
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line) as Request;
    const result = method === "tools/call" ? echo(params.arguments) : DISCOVERED;
    out += JSON.stringify({ jsonrpc: "2.0", id, result }).slice(0, -2) + ENDING;
  }
  return out;
}

function echo({ text = "", size }: { text?: string; size?: number }): unknown {
  return { content: [{ type: "text", text: size === undefined ? text : "x".repeat(size) }] };
}

function join(parts: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

// deno-lint-ignore no-explicit-any
const { Deno, Bun } = globalThis as any;
if (Deno !== undefined) {
  const buffer = new Uint8Array(65_536);
  for (let n = await Deno.stdin.read(buffer); n !== null; n = await Deno.stdin.read(buffer)) {
    let bytes = encoder.encode(turn(buffer.subarray(0, n)));
    while (bytes.length > 0) bytes = bytes.subarray(await Deno.stdout.write(bytes));
  }
} else if (Bun !== undefined) {
  const sink = Bun.stdout.writer();
  for await (const chunk of Bun.stdin.stream()) {
    sink.write(turn(chunk));
    await sink.flush();
  }
} else {
  const { default: process } = await import("node:process");
  process.stdin.on("data", (chunk: Uint8Array) => process.stdout.write(turn(chunk)));
}
