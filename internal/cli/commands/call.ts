/** `call`: a tool from the shell. */

import type { Command } from "../command.ts";
import { RAW_OPTION, SESSION_OPTIONS } from "../session_options.ts";

/** The command. */
export const CALL: Command = {
  name: "call",
  summary: "calls a tool and shows what it gives",
  usage: "TOOL [key=value …]",
  notes: [
    "A value is read as the tool's schema says: text, number, true, JSON. key:=JSON is always JSON, and a key that is",
    "given more than once makes a list. What is missing is asked for on a terminal, and so is what the server asks.",
    "The exit code is 1 if the tool says that it has failed.",
  ],
  examples: [
    { line: "call get-forecast city=Bergen -- deno run weather.ts", what: "one argument" },
    {
      line: `call search --args '{"query": "x", "limit": 3}' --json -- npx some-server`,
      what: "arguments as JSON",
    },
    {
      line: "call search --args @query.json --config .mcp.json --server notes",
      what: "arguments from a file",
    },
  ],
  server: "one",
  options: {
    args: { kind: "value", placeholder: "JSON|@FILE|-", help: "arguments as JSON, in a file, or piped in" },
    ...RAW_OPTION,
    ...SESSION_OPTIONS,
  },
  words: [1, Infinity],
  run: async (invocation, io) => (await import("../call.ts")).runCall(invocation, io),
};
