/**
 * What a program's stderr tells of its end, in few lines: an error's own line, which runtimes print above a stack and below
 * a piece of the source, and not these.
 */

import { spellUnseen } from "./shown_text.ts";

const MAX_LINES = 3;
const MAX_LINE_LENGTH = 300;

/** Sequences by which a terminal is given colours, moved in and cleared. */
// deno-lint-ignore no-control-regex -- they begin with one
const TERMINAL_REGEXP = /\x1b(?:\[[\d;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;

/** A line that names an error: `TypeError: …`, `error: …`, `Uncaught …`, `panic: …`, `npm ERR! …`. */
const ERROR_REGEXP =
  /^(?:uncaught\b|(?:[\w$.]*(?:error|exception)|fatal|panic|panicked)\b[^:]{0,60}:|thread '.*' .*panicked at|npm err)/i;
const NPM_REGEXP = /^npm err/i;

/** What stands around it: places, pieces of the source, carets, versions, advice of a runtime. */
const NOISE_REGEXPS: readonly RegExp[] = [
  /^\s*$/,
  /^\s*at .+/,
  /^\s*[\^~]+\s*$/,
  /^\s*\d+ \| /,
  /^(?:node:|file:|\/|[a-z]:\\).*:\d+(?::\d+)?$/i,
  /^(?:Node\.js v\d|Bun v\d|Deno \d)/,
  /^\(Use `.*` to show where/,
  /^\s*(?:Traceback \(most recent call last\)|File ".*", line \d+|\[Previous line repeated)/,
  /^(?:goroutine \d+ \[|exit status \d+$|\s*note: run with `RUST_BACKTRACE)/,
  /^npm (?:ERR!|error) A complete log of this run|^npm (?:ERR!|error)\s*$/i,
];

/** The lines of a program's stderr that tell most, at most three of them, made fit to be shown. */
export function tellingLines(stderr: string): string[] {
  const lines = withoutSurroundings(stderr.split("\n").map(asSeen));
  let found = lines.findLastIndex((line) => ERROR_REGEXP.test(line));
  // What npm says takes several lines, of which the first tells most.
  while (found > 0 && NPM_REGEXP.test(lines[found]!) && NPM_REGEXP.test(lines[found - 1]!)) found--;
  const telling = found < 0 ? lines.slice(-MAX_LINES) : lines.slice(found, found + MAX_LINES);
  return telling.map((line) => spellUnseen(line.trim()).slice(0, MAX_LINE_LENGTH));
}

/** A line as a terminal leaves it: without colours, and with what was written last over what stood there. */
function asSeen(line: string): string {
  const written = line.replaceAll(TERMINAL_REGEXP, "").trimEnd().split("\r");
  return written.findLast((part) => part !== "") ?? "";
}

function withoutSurroundings(lines: readonly string[]): string[] {
  const kept: string[] = [];
  let isInProperties = false;
  for (const [index, line] of lines.entries()) {
    // Behind the last place of a stack Node prints the properties of an error.
    if (isInProperties) isInProperties = !/^\}/.test(line);
    else if (/^\s*at .+\{$/.test(line)) isInProperties = true;
    else if (!isSource(lines, index) && !NOISE_REGEXPS.some((noise) => noise.test(line))) kept.push(line);
  }
  return kept;
}

/** Whether a line is the one that a caret below it points into, or the one below a place in Python. */
function isSource(lines: readonly string[], index: number): boolean {
  return /^\s*[\^~]+\s*$/.test(lines[index + 1] ?? "") ||
    /^\s*File ".*", line \d+/.test(lines[index - 1] ?? "");
}
