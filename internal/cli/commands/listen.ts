/** `listen`: what changes on a server. */

import type { Command } from "../command.ts";
import { SESSION_OPTIONS } from "../session_options.ts";

/** The command. */
export const LISTEN: Command = {
  name: "listen",
  summary: "shows what changes on a server, as it changes",
  usage: "",
  notes: [
    "Without a word about what, every change of a list. It ends with Ctrl-C. With --json, one event a line.",
  ],
  examples: [
    { line: "listen --resource file:///app.log -- npx some-server", what: "each change of a resource" },
    {
      line: "listen --tools --count 1 --for 30s --json -- npx some-server",
      what: "until the tools change once",
    },
  ],
  server: "one",
  options: {
    tools: { kind: "flag", help: "changes of the list of tools" },
    prompts: { kind: "flag", help: "changes of the list of prompts" },
    resources: { kind: "flag", help: "changes of the list of resources" },
    resource: {
      kind: "values",
      placeholder: "URI",
      help: "changes of a resource; can be given more than once",
    },
    count: { kind: "value", placeholder: "NUMBER", help: "end after so many" },
    for: { kind: "value", placeholder: "DURATION", help: "end after so long" },
    ...SESSION_OPTIONS,
  },
  words: [0, 0],
  run: async (invocation, io) => (await import("../listen.ts")).runListen(invocation, io),
};
