/** `prompt`: the messages of a prompt. */

import type { Command } from "../command.ts";
import { SESSION_OPTIONS } from "../session_options.ts";

/** The command. */
export const PROMPT: Command = {
  name: "prompt",
  summary: "shows the messages that a prompt makes",
  usage: "NAME [key=value …]",
  examples: [{ line: "prompt review language=en -- npx some-server", what: "with one argument" }],
  server: "one",
  options: SESSION_OPTIONS,
  words: [1, Infinity],
  run: async (invocation, io) => (await import("../prompt.ts")).runPrompt(invocation, io),
};
