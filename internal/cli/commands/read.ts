/** `read`: a resource from the shell. */

import type { Command } from "../command.ts";
import { RAW_OPTION, SESSION_OPTIONS } from "../session_options.ts";

/** The command. */
export const READ: Command = {
  name: "read",
  summary: "reads a resource",
  usage: "URI",
  examples: [
    { line: "read config://app -- bun server.ts", what: "a text" },
    { line: "read file:///logo.png --raw -- npx some-server > logo.png", what: "bytes into a file" },
  ],
  server: "one",
  options: { ...RAW_OPTION, ...SESSION_OPTIONS },
  words: [1, 1],
  run: async (invocation, io) => (await import("../read.ts")).runRead(invocation, io),
};
