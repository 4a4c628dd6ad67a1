/** How this module's own lines reach stderr. */

/** Until a runtime has been found; on all of them `console.error` goes to stderr, whatever stands guard over stdout. */
// deno-lint-ignore no-console -- see above
let write = (text: string): void => console.error(text.replace(/\n$/, ""));

/** Has lines written by a runtime from now on, which does not wait for the reader of stderr. */
export function writeLinesBy(writer: (text: string) => void): void {
  write = writer;
}

/** Writes one line, without its line feed. */
export function writeStderrLine(line: string): void {
  write(`${line}\n`);
}
