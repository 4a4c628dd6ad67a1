/** This process's standard streams on Deno. */

import type { ByteSink, ByteSource } from "../byte_streams.ts";
import { Deno, type DenoStdout } from "./namespace.ts";
import { ReusedBuffer } from "./reused_buffer.ts";

/** Own stdin, by `read` calls: a fifth faster than `Deno.stdin.readable`. */
export function ownStdin(): ByteSource {
  const buffer = new ReusedBuffer();
  return {
    async read() {
      const lent = buffer.lend();
      const size = await Deno.stdin.read(lent);
      return size === null ? null : buffer.take(lent.subarray(0, size));
    },
    // The read under way is interrupted, and with it what kept the process alive.
    close: () => Deno.stdin.close(),
  };
}

/** Own stdout, past any guard: the guard is set on the object, and `write` of its prototype is used here. */
export function ownStdout(): ByteSink {
  const { write } = Object.getPrototypeOf(Deno.stdout) as DenoStdout;
  return {
    async write(bytes) {
      for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await write.call(Deno.stdout, rest));
    },
    // Closing descriptor 1 would make every later `console.log` throw.
    close() {},
    abort() {},
  };
}
