/** `record`: writes down what passes between a host and a server. */

import type { Command } from "../command.ts";

/** The command. */
export const RECORD: Command = {
  name: "record",
  summary: "stands between a host and a server and writes down what passes",
  usage: "FILE",
  notes: [
    "Put it before a server's command, in a host's file or on a command line. Nothing of what passes is changed: bytes,",
    "order, back-pressure, signals, the exit code. The file is NDJSON that only its owner can read; one that is there is",
    'left alone, and the next is "FILE-2". Secrets are masked in it. `show` draws it, `replay` says it again.',
  ],
  examples: [
    { line: "record session.ndjson -- npx -y some-server", what: "in the place of the server's command" },
    { line: "show session.ndjson --html session.html", what: "and look at it" },
  ],
  server: "one",
  options: { "keep-secrets": { kind: "flag", help: "leave secrets in the recording" } },
  words: [1, 1],
  run: async (invocation, io) => (await import("../record/record.ts")).runRecord(invocation, io),
};
