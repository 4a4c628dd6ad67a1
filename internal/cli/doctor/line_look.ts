/** What bytes that are no message look like, and how that is mended. */

import { decodeTolerant } from "./shown.ts";

/** A guess at what was written. */
export interface Look {
  readonly what: string;
  readonly mend: string;
}

const TEXT_MEND =
  "TS: console.log → console.error; a dependency's output: import @mcp/stdio/stdout-guard first. " +
  "Python: print(…, file=sys.stderr). Nothing but messages may go to stdout";

const LOOKS: ReadonlyArray<readonly [RegExp, Look]> = [
  [/^Content-Length:/im, {
    what: "Content-Length framing",
    mend: "this is the framing of the Language Server Protocol: write the JSON and one LF",
  }],
  // deno-lint-ignore no-control-regex -- NUL is what tells UTF-16
  [/^(?:\xff\xfe|\xfe\xff|\\xff\\xfe|\\xfe\\xff|[{[]\x00|\x00[{[])/, {
    what: "UTF-16",
    mend: "write UTF-8, without a byte order mark",
  }],
  [/^\s*[{[]\s*(?:\n\s*"|$)/, {
    what: "a JSON object over several lines",
    mend: "JSON.stringify(x) without indent, json.dumps(x) without indent: one message, one line",
  }],
  [/Traceback \(most recent call last\)|^\s+at .+:\d+:\d+\)?$|^\w*Error: /m, {
    what: "a stack trace",
    mend: "write errors to stderr",
  }],
  // deno-lint-ignore no-control-regex -- escapes are what is looked for
  [/\x1b\[|\\x1b\[/, { what: "text with colour codes", mend: TEXT_MEND }],
  [/^(?:event|data): /m, { what: "server-sent events", mend: "write the JSON and one LF" }],
  [/^\s*\{.*'jsonrpc'/m, {
    what: "an object that was printed, not serialised",
    mend: "write JSON: double quotes",
  }],
];

/** What a line looks like that is no message. */
export function lookOf(bytes: Uint8Array): Look {
  const text = decodeTolerant(bytes);
  return LOOKS.find(([pattern]) => pattern.test(text))?.[1] ?? { what: "text", mend: TEXT_MEND };
}

/** What the whole output is, where no line of it is an answer; undefined if it is not understood. */
export function diagnose(lines: readonly Uint8Array[], rest: Uint8Array): Look | undefined {
  const text = [...lines, rest].map((bytes) => decodeTolerant(bytes)).join("\n");
  if (!/jsonrpc/.test(text.replaceAll("\0", ""))) return undefined;
  if (/"jsonrpc"/.test(text) && lines.length === 0) {
    return { what: "a message without an LF behind it", mend: "write one LF behind each message, and flush" };
  }
  return LOOKS.find(([pattern]) => pattern.test(text))?.[1] ??
    {
      what: "a message whose id is not the one that was asked with",
      mend: "copy the id of the request as it is",
    };
}
