/** `call`: a tool from the shell. */

import type { Client } from "../../client.ts";
import type { Result } from "../../messages.ts";
import type { Tool } from "../../methods.ts";
import { nearestHint } from "./arguments.ts";
import { EXIT, type ExitCode, type Invocation, UsageError } from "./command.ts";
import { formatBlock, rawContent } from "./content.ts";
import { elicitationHandler } from "./elicitation.ts";
import type { CliIo } from "./io.ts";
import { collectTools } from "./pages.ts";
import { requestWithProgress } from "./request.ts";
import { readObjectSpec } from "./schema_values.ts";
import { withClient } from "./session.ts";
import { showJson, showLine } from "./shown_text.ts";
import { gatherArguments, readJsonArguments } from "./tool_arguments.ts";

/** Runs it. */
export async function runCall(invocation: Invocation, io: CliIo): Promise<ExitCode> {
  const [name = "", ...words] = invocation.words;
  const given = await readJsonArguments(invocation.options.value("args"), io);
  return await withClient(invocation, io, async (client) => {
    const tool = await findTool(client, name, io);
    const what = `call ${JSON.stringify(showLine(name, 100))}`;
    const args = await gatherArguments({ what, spec: readObjectSpec(tool.inputSchema), words, given }, io);
    const result = await requestWithProgress(client, "tools/call", { name, arguments: args }, {
      label: showLine(name, 60),
      invocation,
    }, io);
    return showCallResult(result, invocation, io);
  }, { "elicitation/create": elicitationHandler(io) });
}

async function findTool(client: Client, name: string, { interrupted }: CliIo): Promise<Tool> {
  const tools = await collectTools(client, interrupted);
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool !== undefined) return tool;
  const names = tools.map((candidate) => String(candidate.name));
  const hint = nearestHint(name, names, `it has ${names.slice(0, 30).join(", ") || "none"}`);
  throw new UsageError(
    `Cannot call ${JSON.stringify(showLine(name, 100))}: the server has no such tool, ${showLine(hint)}`,
  );
}

function showCallResult(result: Result, invocation: Invocation, { screen }: CliIo): ExitCode {
  const { content, structuredContent, isError, resultType } = result;
  const exitCode = isError === true || resultType === "input_required" ? EXIT.no : EXIT.ok;
  if (invocation.isJson) {
    screen.json(result);
    return exitCode;
  }
  const blocks = Array.isArray(content) ? content : [];
  if (invocation.options.has("raw")) {
    for (const block of blocks) screen.raw(rawContent(block) ?? `${showJson(block)}\n`);
  } else {
    for (const block of blocks) screen.result(formatBlock(block));
    // Where there is text it says the same, for people.
    if (blocks.length === 0 && structuredContent !== undefined) screen.json(structuredContent);
  }
  if (isError === true) screen.error("the tool has failed: that was its message");
  else if (resultType === "input_required") {
    screen.error("the server wants to know what can not be answered here");
  }
  return exitCode;
}
