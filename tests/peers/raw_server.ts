/** A server process of ours that is driven by bytes, as no client of ours would drive it. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { TestContext } from "node:test";
import { type Command, createBrood, ROOT } from "./harness.ts";

/** A message as it came. */
export type Message = { id?: unknown; result?: unknown; error?: { code: number; message: string } };

/** Starts a server; it does not outlive the test. */
export class RawServer {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  readonly #gone: () => Promise<void>;
  #pings = 0;

  constructor(t: TestContext, [command, ...args]: Command) {
    const brood = createBrood(t);
    this.#gone = brood.gone;
    const env = { ...process.env, ...brood.env };
    this.#child = spawn(command, args, { cwd: ROOT, env, stdio: ["pipe", "pipe", "ignore"] });
    // A server that is gone shows itself by its output's end.
    this.#child.stdin.on("error", () => {});
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Writes a line, and gives all that is answered to it at once: a ping behind it tells the end. */
  async answersTo(line: string | Uint8Array): Promise<Message[]> {
    const ping = `ping ${++this.#pings}`;
    this.#write(line);
    this.#write(`{"jsonrpc":"2.0","id":"${ping}","method":"ping"}`);
    const answers: Message[] = [];
    for (let message = await this.#read(); message.id !== ping; message = await this.#read()) {
      answers.push(message);
    }
    return answers;
  }

  /** Writes a request, and gives what comes next. */
  async request(line: string | Uint8Array): Promise<Message> {
    this.#write(line);
    return await this.#read();
  }

  #write(line: string | Uint8Array): void {
    this.#child.stdin.write(line);
    this.#child.stdin.write("\n");
  }

  async #read(): Promise<Message> {
    const { done, value } = await this.#lines.next();
    if (done) throw new Error("Cannot read a message: the server has gone");
    return JSON.parse(value);
  }

  /** Ends its input, and gives its exit code. Nothing of it is left then. */
  async close(): Promise<number | null> {
    const exit = once(this.#child, "exit");
    this.#child.stdin.end();
    const [code] = await exit as [number | null];
    await this.#gone();
    return code;
  }
}
