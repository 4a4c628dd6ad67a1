/** `prompt`: the messages of a prompt. */

import { InvalidResponseError } from "../../errors.ts";
import { isJSONObject } from "../../messages.ts";
import { nearestHint } from "./arguments.ts";
import { EXIT, type ExitCode, type Invocation, UsageError } from "./command.ts";
import { formatBlock } from "./content.ts";
import { elicitationHandler } from "./elicitation.ts";
import type { CliIo } from "./io.ts";
import { collectPrompts } from "./pages.ts";
import { requestWithProgress } from "./request.ts";
import { withClient } from "./session.ts";
import { showLine } from "./shown_text.ts";
import { gatherArguments, promptSpec } from "./tool_arguments.ts";

/** Runs it. */
export async function runPrompt(invocation: Invocation, io: CliIo): Promise<ExitCode> {
  const [name = "", ...words] = invocation.words;
  const { screen } = io;
  return await withClient(invocation, io, async (client) => {
    const prompts = await collectPrompts(client, io.interrupted);
    const prompt = prompts.find((candidate) => candidate.name === name);
    const what = `get the prompt ${JSON.stringify(showLine(name, 100))}`;
    if (prompt === undefined) {
      const names = prompts.map((candidate) => String(candidate.name));
      const hint = nearestHint(name, names, `it has ${names.join(", ") || "none"}`);
      throw new UsageError(`Cannot ${what}: the server has no such prompt, ${showLine(hint)}`);
    }
    const args = await gatherArguments({ what, spec: promptSpec(prompt.arguments), words, given: {} }, io);
    const result = await requestWithProgress(client, "prompts/get", { name, arguments: args }, {
      label: showLine(name, 60),
      invocation,
    }, io);
    const { messages } = result;
    if (!Array.isArray(messages) || !messages.every(isJSONObject)) {
      throw new InvalidResponseError("prompts/get", 'its "messages" are no list of objects');
    }
    if (invocation.isJson) screen.json(result);
    else {
      for (const { role, content } of messages) {
        screen.result(screen.out.bold(`${showLine(String(role), 40)}:`));
        screen.result(formatBlock(content));
      }
    }
    return EXIT.ok;
  }, { "elicitation/create": elicitationHandler(io) });
}
