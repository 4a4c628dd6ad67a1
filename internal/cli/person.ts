/**
 * Who sits at the terminal. One question is asked at a time, whoever asks, and while one is open nothing else is shown. Where
 * stdin or stderr is no terminal there is nobody.
 */

import type { CliIo } from "./io.ts";
import { describeSpec, readValue, toText, type ValueSpec } from "./schema_values.ts";
import { showLine } from "./shown_text.ts";

const persons = new WeakMap<CliIo, Person>();

/** Who can be asked; undefined where there is nobody. */
export function personAt(io: CliIo): Person | undefined {
  if (!io.input.isTerminal) return undefined;
  const known = persons.get(io) ?? new Person(io);
  persons.set(io, known);
  return known;
}

/** Somebody who can be asked. */
export class Person {
  readonly #io: CliIo;
  #last: Promise<unknown> = Promise.resolve();

  constructor(io: CliIo) {
    this.#io = io;
  }

  /** Asks what `questions` asks, when it is its turn and nothing else is being asked. */
  takeTurn<T>(questions: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(async () => {
      const release = this.#io.screen.hold();
      try {
        return await questions();
      } finally {
        release();
      }
    });
    this.#last = turn.catch(() => {}); // Whoever asked hears of it; the next may ask nevertheless.
    return turn;
  }

  /** Asks for a value until it can be read. Undefined when the person gives up by the end of the input. */
  askFor(spec: ValueSpec): Promise<{ readonly value: unknown } | undefined> {
    return this.takeTurn(() => this.askForNow(spec));
  }

  /** The same, for who has the turn already. */
  async askForNow(spec: ValueSpec): Promise<{ readonly value: unknown } | undefined> {
    const { screen, input, interrupted } = this.#io;
    const paint = screen.err;
    const about = [describeSpec(spec), spec.isRequired ? "" : "may be left empty"].filter(Boolean).join("; ");
    if (spec.description !== "") screen.askLine(`  ${paint.dim(showLine(spec.description, 400))}`);
    const preset = spec.default === undefined ? "" : ` [${showLine(toText(spec.default), 100)}]`;
    const question = `${paint.bold(showLine(spec.name, 100))}${
      about === "" ? "" : paint.dim(` (${showLine(about, 300)})`)
    }${preset}: `;
    for (;;) {
      const answer = await input.ask(question, { signal: interrupted });
      if (answer === undefined) return undefined;
      if (answer === "" && spec.default !== undefined) return { value: spec.default };
      if (answer === "" && !spec.isRequired) return { value: undefined };
      const read = readValue(spec, answer);
      if ("value" in read) return read;
      screen.askLine(paint.yellow(`  ${showLine(read.problem, 300)}`));
    }
  }

  /** Asks for a yes; anything else is a no. For who has the turn already. */
  async confirmNow(question: string): Promise<boolean> {
    const answer = await this.#io.input.ask(`${question} [y/N] `, { signal: this.#io.interrupted });
    return /^y(es)?$/i.test(answer?.trim() ?? "");
  }
}
