/**
 * What a command shows: results on stdout, everything else on stderr. Where nobody looks at a terminal there is no colour
 * and nothing that moves.
 */

import type { TextOutput } from "../runtime/node_api/terminal.ts";
import { createPaint, type Paint, wantsColour } from "./paint.ts";
import { cutToWidth, showJson } from "./shown_text.ts";

/** What a screen is made of. */
export interface ScreenParts {
  readonly stdout: TextOutput;
  readonly stderr: TextOutput;
  /** Reads a variable of the environment. */
  readonly env: (name: string) => string | undefined;
}

/** How wide text is where no terminal says it. */
const DEFAULT_COLUMNS = 100;

/** Results, and everything else. */
export class Screen {
  /** Colours for results. */
  readonly out: Paint;
  /** Colours for everything else. */
  readonly err: Paint;
  /** Whether signs beyond ASCII can be expected to be seen as they are. */
  readonly isUnicode: boolean;
  /** Whether there is a line that moves: without one a command says once what takes long, or nothing. */
  readonly moves: boolean;
  readonly #stdout: TextOutput;
  readonly #stderr: TextOutput;
  #status = "";
  /** What waits while somebody is asked, or undefined. */
  #held: Array<() => void> | undefined;

  constructor({ stdout, stderr, env }: ScreenParts) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.out = createPaint(wantsColour(stdout.isTerminal, env));
    this.err = createPaint(wantsColour(stderr.isTerminal, env));
    this.moves = stderr.isTerminal && env("TERM") !== "dumb";
    const locale = [env("LC_ALL"), env("LC_CTYPE"), env("LANG")].find((value) => (value ?? "") !== "");
    this.isUnicode = locale === undefined || /utf-?8/i.test(locale);
  }

  /** How many columns results may take; undefined where no terminal bounds them. */
  get columns(): number | undefined {
    return this.#stdout.isTerminal ? this.#stdout.columns ?? DEFAULT_COLUMNS : undefined;
  }

  /** A line, or lines, of the result. Text of servers must have gone through `shown_text.ts`. */
  result(text = ""): void {
    this.#show(() => this.#stdout.write(`${text}\n`));
  }

  /** A value of the result, as JSON on one line, or on many for a terminal. */
  json(value: unknown): void {
    this.result(showJson(value, this.#stdout.isTerminal ? 2 : undefined));
  }

  /** Bytes or text of the result just as they are. */
  raw(content: string | Uint8Array): void {
    this.#show(() => this.#stdout.write(content));
  }

  /** A line that is no result. */
  note(text: string): void {
    this.#show(() => this.#stderr.write(`${text}\n`));
  }

  /** Something that should be known, and ends nothing. */
  warn(text: string): void {
    this.note(`${this.err.yellow("warning:")} ${text}`);
  }

  /** Why it cannot go on. */
  error(text: string): void {
    this.note(`${this.err.red("error:")} ${text}`);
  }

  /** Changes the line that moves; an empty one takes it away. Nothing without a terminal. */
  status(text: string): void {
    if (!this.moves || text === this.#status) return;
    this.#clearStatus();
    this.#status = text;
    this.#drawStatus();
  }

  /** Keeps back what is shown, as somebody is asked something. Returns what lets it go on. */
  hold(): () => void {
    this.#clearStatus();
    this.#held ??= [];
    return () => {
      const held = this.#held ?? [];
      this.#held = undefined;
      for (const show of held) show();
      this.#drawStatus();
    };
  }

  /** A line that belongs to a question: it is shown at once. */
  askLine(text: string): void {
    this.#stderr.write(`${text}\n`);
  }

  /** Resolves when all of it has been taken by the system, or cannot be any more. */
  async flush(): Promise<void> {
    this.status("");
    await Promise.all([this.#stdout.flush(), this.#stderr.flush()]);
  }

  /** Why results are lost; a reader that has gone has lost none. */
  get failure(): Error | undefined {
    return this.#stdout.failure;
  }

  #show(write: () => void): void {
    if (this.#held !== undefined) {
      this.#held.push(write);
      return;
    }
    this.#clearStatus();
    write();
    this.#drawStatus();
  }

  #clearStatus(): void {
    if (this.#status !== "" && this.#held === undefined) this.#stderr.write("\r\x1b[K");
  }

  #drawStatus(): void {
    if (this.#status === "" || this.#held !== undefined) return;
    // One column is left free: a terminal that wraps there would keep what was to be overwritten.
    this.#stderr.write(this.err.dim(cutToWidth(this.#status, (this.#stderr.columns ?? DEFAULT_COLUMNS) - 1)));
  }
}
