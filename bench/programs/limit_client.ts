// The limit: a bare client by the fastest means of each runtime; see limit_server.ts.
import { type BenchClient, type EchoResult, REQUEST_META } from "./frames.ts";

const ENDING = `,"_meta":${JSON.stringify(REQUEST_META)}}}\n`;

const decoder = new TextDecoder();

/** Starts a server and talks to it. */
export async function connect(command: string, args: string[]): Promise<BenchClient> {
  const pending = new Map<number, (result: EchoResult) => void>();
  let rest: Uint8Array[] = [];
  let out = "";
  let lastId = 0;
  const receive = (chunk: Uint8Array) => {
    const last = chunk.lastIndexOf(10);
    if (last === -1) {
      rest.push(chunk.slice());
      return;
    }
    rest.push(chunk.subarray(0, last));
    const lines = decoder.decode(rest.length === 1 ? rest[0] : join(rest)).split("\n");
    rest = last + 1 === chunk.length ? [] : [chunk.slice(last + 1)];
    for (const line of lines) {
      const { id, result } = JSON.parse(line) as { id: number; result: EchoResult };
      pending.get(id)!(result);
      pending.delete(id);
    }
  };
  const { write, close } = await start(command, args, receive);
  const flush = () => {
    write(out);
    out = "";
  };
  const send = (method: string, params: object, done: (result: EchoResult) => void): void => {
    const id = ++lastId;
    pending.set(id, done);
    if (out === "") queueMicrotask(flush);
    out += JSON.stringify({ jsonrpc: "2.0", id, method, params }).slice(0, -2) + ENDING;
  };
  // With a member, which the ending can follow.
  await new Promise((resolve) => send("server/discover", { a: 0 }, resolve));
  return {
    echo: (args) => new Promise((resolve) => send("tools/call", { name: "echo", arguments: args }, resolve)),
    close,
  };
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

interface Started {
  write(text: string): void;
  close(): Promise<void>;
}

async function start(
  command: string,
  args: string[],
  receive: (chunk: Uint8Array) => void,
): Promise<Started> {
  // deno-lint-ignore no-explicit-any
  const { Deno, Bun } = globalThis as any;
  if (Deno !== undefined) {
    const child = new Deno.Command(command, { args, stdin: "piped", stdout: "piped" })
      .spawn();
    const writer = child.stdin.getWriter();
    const encoder = new TextEncoder();
    (async () => {
      for await (const chunk of child.stdout) receive(chunk);
    })();
    return {
      write: (text) => void writer.write(encoder.encode(text)),
      close: async () => {
        await writer.close();
        await child.status;
      },
    };
  }
  if (Bun !== undefined) {
    const child = Bun.spawn([command, ...args], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    (async () => {
      for await (const chunk of child.stdout) receive(chunk);
    })();
    return {
      write: (text) => {
        child.stdin.write(text);
        child.stdin.flush();
      },
      close: async () => {
        child.stdin.end();
        await child.exited;
      },
    };
  }
  const { spawn } = await import("node:child_process");
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdout.on("data", receive);
  return {
    write: (text) => void child.stdin.write(text),
    close: () =>
      new Promise((resolve) => {
        child.on("exit", () => resolve());
        child.stdin.end();
      }),
  };
}
