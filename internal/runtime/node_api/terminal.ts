/**
 * What a command line needs from its process beside a `RuntimeAdapter`: standard streams as text, questions to who sits at
 * the terminal, and files. One file for the three runtimes, by the `node:` modules that all of them have: a command line
 * is loaded by nobody who counts the milliseconds of a server's start.
 */

import type { WriteStream } from "node:tty";

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
}

/** Where what is typed or piped in comes from. */
export interface TextInput {
  /** Whether somebody can be asked: what is typed comes from a terminal, and the question is seen on one. */
  readonly isTerminal: boolean;
  /** All of it, to the end. */
  readAll(): Promise<Uint8Array>;
  /** Asks for a line; undefined when the input ends or the question is given up. What is secret is not shown as it is typed. */
  ask(question: string, options?: AskOptions): Promise<string | undefined>;
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

/** This process's stdout or stderr. */
export function openTextOutput(name: "stdout" | "stderr"): TextOutput {
  return new ProcessOutput(name);
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
  #isGone = false;

  constructor(name: "stdout" | "stderr") {
    this.#name = name;
  }

  get isTerminal(): boolean {
    return this.#open().isTTY === true;
  }

  get columns(): number | undefined {
    return this.#open().columns;
  }

  write(content: string | Uint8Array): void {
    if (!this.#isGone) this.#open().write(content);
  }

  flush(): Promise<void> {
    const stream = this.#stream;
    if (stream === undefined || this.#isGone) return Promise.resolve();
    return new Promise((resolve) => {
      stream.once("error", () => resolve());
      stream.write("", () => resolve());
    });
  }

  #open(): WriteStream {
    if (this.#stream === undefined) {
      this.#stream = process[this.#name];
      // Whoever read it has gone, as `head` does.
      this.#stream.on("error", () => this.#isGone = true);
    }
    return this.#stream;
  }
}

class ProcessInput implements TextInput {
  get isTerminal(): boolean {
    const { stdin, stderr } = process;
    return stdin.isTTY === true && stderr.isTTY === true;
  }

  async readAll(): Promise<Uint8Array> {
    const { buffer } = await import("node:stream/consumers");
    return await buffer(process.stdin);
  }

  async ask(question: string, { isSecret = false, signal }: AskOptions = {}): Promise<string | undefined> {
    const { createInterface } = await import("node:readline");
    const { Writable } = await import("node:stream");
    const { stdin, stderr } = process;
    signal?.throwIfAborted();
    let isHidden = false;
    // The question goes to stderr: stdout has results, and may lead into a file.
    const output = new Writable({
      write(chunk, _encoding, done) {
        if (!isHidden) stderr.write(chunk);
        done();
      },
    });
    const lines = createInterface({ input: stdin, output, terminal: stdin.isTTY });
    return await new Promise((resolve, reject) => {
      const giveUp = () => {
        reject(signal!.reason);
        lines.close();
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      lines.on("close", () => {
        signal?.removeEventListener("abort", giveUp);
        if (isHidden) stderr.write("\n");
        resolve(undefined);
      });
      // In raw mode Ctrl-C is a character, and no signal comes of it.
      lines.on("SIGINT", () => {
        lines.close();
        process.kill(process.pid, "SIGINT");
      });
      lines.question(question, (answer) => {
        resolve(answer);
        lines.close();
      });
      isHidden = isSecret;
    });
  }
}
