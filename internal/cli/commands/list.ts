/** `list`: what a server has. */

import type { Command } from "../command.ts";
import { SESSION_OPTIONS } from "../session_options.ts";

/** The command. */
export const LIST: Command = {
  name: "list",
  summary: "what a server has: tools, resources, templates, prompts",
  usage: "[tools|resources|templates|prompts]",
  notes: ["Without a word, all that the server says it has."],
  examples: [
    { line: "list -- npx -y @modelcontextprotocol/server-everything", what: "all it has" },
    {
      line: "list tools --config .mcp.json --server weather --json",
      what: "the tools of a server of a host, as JSON",
    },
  ],
  server: "one",
  options: SESSION_OPTIONS,
  words: [0, 1],
  run: async (invocation, io) => (await import("../list.ts")).runList(invocation, io),
};
