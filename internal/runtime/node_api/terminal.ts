/**
 * What a command line needs from its process beside a `RuntimeAdapter`: standard streams as text, questions to who sits at
 * the terminal, and files. One file for the three runtimes, by the `node:` modules that all of them have: a command line
 * is loaded by nobody who counts the milliseconds of a server's start.
 */

import type { Interface } from "node:readline";
import type { WriteStream } from "node:tty";
import { createDeferred } from "../../promises.ts";

// Not imported: see node.ts.
const { process } = globalThis;

/** Where text goes. */
export interface TextOutput {
  /** Whether a person looks at it. */
  readonly isTerminal: boolean;
  /** How wide it is, if that is known. */
  readonly columns: number | undefined;
  /** Writes; what cannot be written any more is dropped. */
  write(content: string | Uint8Array): void;
  /** Resolves when all was taken by the system, or nothing can be written any more. */
  flush(): Promise<void>;
  /** Why something could not be written, unless it is only that its reader has gone. */
  readonly failure: Error | undefined;
}

/** Where what is typed or piped in comes from. */
export interface TextInput {
  /** Whether somebody can be asked: what is typed comes from a terminal, and the question is seen on one. */
  readonly isTerminal: boolean;
  /** All of it, to the end. */
  readAll(): Promise<Uint8Array>;
  /** Asks for a line; undefined when the input ends or the question is given up. What is secret is not shown as it is typed. */
  ask(question: string, options?: AskOptions): Promise<string | undefined>;
  /** Asks no more, and keeps the process alive no longer. */
  close(): void;
}

/** How to ask. */
export interface AskOptions {
  readonly isSecret?: boolean | undefined;
  /** Gives the question up. */
  readonly signal?: AbortSignal | undefined;
}

/** Files. */
export interface FileAccess {
  /** All bytes of a file. */
  read(path: string): Promise<Uint8Array>;
  /** Writes a file that only its owner can read. */
  writePrivate(path: string, content: string | Uint8Array): Promise<void>;
}

const outputs = new Map<string, TextOutput>();

/** This process's stdout or stderr: one each, however often a program runs a command line. */
export function openTextOutput(name: "stdout" | "stderr"): TextOutput {
  const output = outputs.get(name) ?? new ProcessOutput(name);
  outputs.set(name, output);
  return output;
}

/** This process's stdin. */
export function openTextInput(): TextInput {
  return new ProcessInput();
}

/** What stands behind the program's name on its command line. */
export function programArguments(): string[] {
  return process.argv.slice(2);
}

/** The file system. */
export const systemFiles: FileAccess = {
  async read(path) {
    const { readFile } = await import("node:fs/promises");
    return await readFile(path);
  },
  async writePrivate(path, content) {
    const { open } = await import("node:fs/promises");
    const file = await open(path, "w", 0o600);
    try {
      // The mode above holds only for a file that is new.
      await file.chmod(0o600);
      await file.writeFile(content);
    } finally {
      await file.close();
    }
  },
};

// Streams are taken from `process` when they are first used: `record` never touches them.
class ProcessOutput implements TextOutput {
  readonly #name: "stdout" | "stderr";
  #stream: WriteStream | undefined;
  /** How many writes the system has not taken yet. */
  #waiting = 0;
  #flushed = createDeferred();
  #isGone = false;
  #failure: Error | undefined;

  constructor(name: "stdout" | "stderr") {
    this.#name = name;
  }

  get isTerminal(): boolean {
    return this.#open().isTTY === true;
  }

  get columns(): number | undefined {
    // A terminal that does not know says 0.
    return this.#open().columns || undefined;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  write(content: string | Uint8Array): void {
    if (this.#isGone) return;
    this.#waiting++;
    try {
      this.#open().write(content, (error) => error ? this.#fail(error) : this.#written());
    } catch (error) {
      this.#fail(error as Error); // Deno throws where the others call back.
    }
  }

  /** Waits for each write by itself: Bun calls back for an empty one before those in front of it, and Deno never behind a failed one. */
  flush(): Promise<void> {
    return this.#waiting === 0 || this.#isGone ? Promise.resolve() : this.#flushed.promise;
  }

  #open(): WriteStream {
    if (this.#stream === undefined) {
      this.#stream = process[this.#name];
      this.#stream.on("error", (error) => this.#fail(error));
    }
    return this.#stream;
  }

  #written(): void {
    if (--this.#waiting > 0) return;
    this.#flushed.resolve();
    this.#flushed = createDeferred();
  }

  #fail(error: NodeJS.ErrnoException): void {
    // Whoever read it may have gone, as `head` does, and has all that it wanted.
    if (error.code !== "EPIPE") this.#failure ??= error;
    this.#isGone = true;
    this.#flushed.resolve();
  }
}

class ProcessInput implements TextInput {
  #lines: LineReader | undefined;

  get isTerminal(): boolean {
    const { stdin, stderr } = process;
    return stdin.isTTY === true && stderr.isTTY === true;
  }

  async readAll(): Promise<Uint8Array> {
    const { buffer } = await import("node:stream/consumers");
    return await buffer(process.stdin);
  }

  async ask(question: string, { isSecret = false, signal }: AskOptions = {}): Promise<string | undefined> {
    this.#lines ??= await LineReader.open();
    return await this.#lines.ask(question, isSecret, signal);
  }

  close(): void {
    this.#lines?.close();
    this.#lines = undefined;
  }
}

/** Lines that are typed. What is typed ahead waits for its question: so answers can be pasted. */
class LineReader {
  readonly #interface: Interface;
  readonly #typed: string[] = [];
  #onLine: ((line: string | undefined) => void) | undefined;
  #isHidden = false;
  #isClosed = false;

  static async open(): Promise<LineReader> {
    const { createInterface } = await import("node:readline");
    const { Writable } = await import("node:stream");
    return new LineReader((write) => {
      const output = new Writable({
        write(chunk, _encoding, done) {
          write(chunk);
          done();
        },
      });
      return createInterface({ input: process.stdin, output, terminal: process.stdin.isTTY });
    });
  }

  constructor(open: (write: (chunk: Uint8Array) => void) => Interface) {
    // Questions and what is typed are seen on stderr: stdout has results, and may lead into a file.
    this.#interface = open((chunk) => {
      if (!this.#isHidden) process.stderr.write(chunk);
    });
    this.#interface.on("line", (line) => {
      if (this.#onLine === undefined) this.#typed.push(line);
      else this.#onLine(line);
    });
    this.#interface.on("close", () => {
      this.#isClosed = true;
      this.#onLine?.(undefined);
    });
    // In raw mode Ctrl-C is a character, and no signal comes of it.
    this.#interface.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  }

  ask(question: string, isSecret: boolean, signal: AbortSignal | undefined): Promise<string | undefined> {
    signal?.throwIfAborted();
    this.#interface.setPrompt(question);
    this.#interface.prompt();
    const [typed] = this.#typed.splice(0, 1);
    if (typed !== undefined || this.#isClosed) {
      process.stderr.write(isSecret || typed === undefined ? "\n" : `${typed}\n`);
      return Promise.resolve(typed);
    }
    this.#isHidden = isSecret;
    return new Promise((resolve, reject) => {
      const done = () => {
        signal?.removeEventListener("abort", giveUp);
        this.#onLine = undefined;
        if (this.#isHidden) process.stderr.write("\n");
        this.#isHidden = false;
      };
      const giveUp = () => {
        done();
        reject(signal!.reason);
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#onLine = (line) => {
        done();
        resolve(line);
      };
    });
  }

  close(): void {
    this.#interface.close();
  }
}
