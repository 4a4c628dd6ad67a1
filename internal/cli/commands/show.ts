/** `show`: a recording, in the terminal or as a page. */

import type { Command } from "../command.ts";

/** The command. */
export const SHOW: Command = {
  name: "show",
  summary: "draws a recording, in the terminal or as a page",
  usage: "FILE",
  notes: [
    "Without an option, every line in order, each request with how it ended and how long it took. The page is one file that",
    "needs nothing else and asks nobody: a bar for each request on a time axis, a list to search, and the messages. The exit",
    "code is 1 if a line breaks a rule or a request failed, was not answered, or got an error, and --check is given.",
  ],
  examples: [
    { line: "show session.ndjson --problems", what: "what went wrong" },
    { line: "show session.ndjson --html session.html", what: "as a page" },
    { line: "show session.ndjson --bars --method tools/call", what: "a bar for each call of a tool" },
  ],
  server: "none",
  options: {
    html: { kind: "value", placeholder: "OUT", help: "write a page" },
    bars: { kind: "flag", help: "a bar for each request in the place of lines" },
    problems: { kind: "flag", help: "only what breaks a rule, failed, or was not answered" },
    from: {
      kind: "values",
      placeholder: "WHO",
      choices: ["client", "server", "stderr", "process"],
      help: "only what came from there",
    },
    method: {
      kind: "values",
      placeholder: "METHOD",
      help: "only requests of this method, and what belongs to them",
    },
    grep: { kind: "value", placeholder: "TEXT", help: "only lines that hold this text" },
    full: { kind: "flag", help: "whole messages below each line" },
    check: { kind: "flag", help: "end with 1 if there is a problem" },
    "keep-secrets": { kind: "flag", help: "show secrets that are in the recording" },
  },
  words: [1, 1],
  run: async (invocation, io) => (await import("../show/show.ts")).runShow(invocation, io),
};
