/** Where an offset of a text stands, in lines and columns. Many can be asked for without the text being read anew. */

/** A place as editors show it, both numbers from 1; the column counts UTF-16 code units. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** So much of the text is read anew for each place. */
const STEP = 4096;

/** Finds places in a text. Its lines are counted when the first is asked for. */
export class TextPlaces {
  readonly #text: string;
  /** Line and beginning of the line at every `STEP` characters. */
  readonly #steps: { readonly line: number; readonly begin: number }[] = [{ line: 1, begin: 0 }];

  constructor(text: string) {
    this.#text = text;
  }

  /** The place of an offset. */
  locate(offset: number): TextPlace {
    const step = Math.floor(offset / STEP);
    while (this.#steps.length <= step) this.#steps.push(this.#count(this.#steps.length * STEP));
    const { line, begin } = this.#count(offset);
    return { line, column: offset - begin + 1 };
  }

  /** Counts from the last known step before an offset. */
  #count(offset: number): { line: number; begin: number } {
    const step = Math.min(Math.floor(offset / STEP), this.#steps.length - 1);
    let { line, begin } = this.#steps[step]!;
    for (let at = step * STEP; at < offset; at++) {
      const code = this.#text.charCodeAt(at);
      // A CR before a LF ends no line of its own.
      if (code === 0x0a || (code === 0x0d && this.#text.charCodeAt(at + 1) !== 0x0a)) {
        line++;
        begin = at + 1;
      }
    }
    return { line, begin };
  }
}
