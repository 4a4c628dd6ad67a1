/** More than these are only counted: a model mends the first ones first. */
const MOST_TOLD = 20;

/** A line is cut there. */
const LONGEST_LINE = 200;

/** What is wrong with a value, as lines without repetition, and not too many. */
export function describeProblems(problems: readonly string[]): string[] {
  const lines = [...new Set(problems.map(toLine))];
  const more = lines.length - MOST_TOLD;
  return more <= 0 ? lines : [...lines.slice(0, MOST_TOLD), `and ${more} more`];
}

/** One problem behind its place. */
export function at(place: string, problem: string): string {
  return place === "" ? problem : `${place}: ${problem}`;
}

function toLine(text: string): string {
  // deno-lint-ignore no-control-regex -- these are what must not reach a line
  const line = text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ");
  return line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE)}…`;
}
