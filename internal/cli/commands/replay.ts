/** `replay`: says what a recording's client said to a server again. */

import type { Command } from "../command.ts";

/** The command. */
export const REPLAY: Command = {
  name: "replay",
  summary: "says what a recording's client said again, and tells what the server answers otherwise",
  usage: "FILE",
  notes: [
    "Each line is said when the answers have come that had come before it. What the server asks is answered as it was then.",
    "An answer is the same if its JSON is; --ignore leaves out what may differ. The exit code is 1 if one is not the same,",
    "or if a line of the server breaks a rule.",
  ],
  examples: [
    { line: "replay session.ndjson -- node dist/server.js", what: "after a change of the server" },
    {
      line: "replay session.ndjson --ignore 'result.content[*].text' -- uvx some-server",
      what: "texts may differ",
    },
  ],
  server: "one",
  options: {
    ignore: {
      kind: "values",
      placeholder: "PATH",
      help: "leave out what stands there; * is any name or index",
    },
    timeout: {
      kind: "value",
      placeholder: "DURATION",
      help: "how long an answer is awaited; 10s without it",
    },
  },
  words: [1, 1],
  run: async (invocation, io) => (await import("../replay/replay.ts")).runReplay(invocation, io),
};
