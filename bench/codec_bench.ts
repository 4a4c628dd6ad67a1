// Micro benches of the decoder and the encoder: `deno bench -A bench/codec_bench.ts`. Each iteration of a group takes the
// same work in another form, so the numbers of a group can be compared.
import { MessageDecoder } from "../internal/framing/message_decoder.ts";
import { encodeMessage } from "../internal/framing/message_encoder.ts";
import type { JSONRPCMessage } from "../messages.ts";
import { REQUEST_META } from "./programs/frames.ts";

const LIMITS = { maxLineBytes: 128 * 1_048_576, maxNestingDepth: 512 };
const MIB = 1_048_576;
const encoder = new TextEncoder();

function call(id: number, text: string): JSONRPCMessage {
  const params = { name: "echo", arguments: { text }, _meta: REQUEST_META };
  return { jsonrpc: "2.0", id, method: "tools/call", params };
}

function decode(bytes: Uint8Array, chunkBytes: number, expected: number): void {
  const decoder = new MessageDecoder(LIMITS);
  let count = 0;
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    count += decoder.push(bytes.subarray(start, start + chunkBytes)).length;
  }
  if (count !== expected) throw new Error(`${count} frames instead of ${expected}`);
}

const smallFrames = encoder.encode(
  Array.from({ length: 1_000 }, (_, id) => `${JSON.stringify(call(id, "x".repeat(100)))}\n`).join(""),
);

for (const chunkBytes of [65_536, 4_096, 1]) {
  Deno.bench(`1 000 calls of 100 B in chunks of ${chunkBytes}`, { group: "decode small frames" }, () => {
    decode(smallFrames, chunkBytes, 1_000);
  });
}

for (const mib of [1, 4, 16, 64]) {
  const line = encoder.encode(`${JSON.stringify(call(1, "x".repeat(mib * MIB)))}\n`);
  Deno.bench(`a line of ${mib} MiB in chunks of 4 096`, { group: "decode large lines" }, () => {
    decode(line, 4_096, 1);
  });
  Deno.bench(`a line of ${mib} MiB in chunks of 65 536`, { group: "decode large lines" }, () => {
    decode(line, 65_536, 1);
  });
}

const small = call(1, "x".repeat(100));
Deno.bench("1 000 calls of 100 B", { group: "encode" }, () => {
  for (let count = 0; count < 1_000; count++) encodeMessage(small, LIMITS.maxLineBytes);
});
for (const mib of [1, 16]) {
  const large = call(1, "x".repeat(mib * MIB));
  Deno.bench(`a result of ${mib} MiB`, { group: "encode" }, () => {
    encodeMessage(large, LIMITS.maxLineBytes);
  });
}
