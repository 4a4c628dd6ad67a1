/** What a server asks its user: asked on a terminal, declined where nobody can answer. */

import type { InputHandler } from "../../client.ts";
import { isJSONObject, type Params } from "../../messages.ts";
import type { ElicitResult } from "../../methods.ts";
import type { CliIo } from "./io.ts";
import { type Person, personAt } from "./person.ts";
import { readObjectSpec } from "./schema_values.ts";
import { showLine, showText } from "./shown_text.ts";

/** Answers for `inputHandlers` of a client. */
export function elicitationHandler(io: CliIo): InputHandler<"elicitation/create"> {
  return async (params) => {
    const person = personAt(io);
    const message = showLine(String(params.message ?? ""), 400);
    if (person === undefined) {
      io.screen.warn(
        `the server asks ${JSON.stringify(message)}: declined, as there is no terminal to ask on`,
      );
      return { action: "decline" };
    }
    return await person.takeTurn(() => askForm(params, person, io));
  };
}

async function askForm(params: Params, person: Person, { screen }: CliIo): Promise<ElicitResult> {
  const { err } = screen;
  screen.askLine(`${err.cyan("The server asks:")} ${showText(String(params.message ?? "")).slice(0, 2_000)}`);
  if (params.mode !== undefined && params.mode !== "form") {
    screen.askLine(err.yellow("  declined: only forms can be answered here"));
    return { action: "decline" };
  }
  const schema = isJSONObject(params.requestedSchema) ? params.requestedSchema : {};
  const { members } = readObjectSpec(schema);
  if (!await person.confirmNow(members.length === 0 ? "Agree?" : "Answer?")) return { action: "decline" };
  const content: NonNullable<ElicitResult["content"]> = {};
  for (const member of members) {
    const answer = await person.askForNow(member);
    if (answer === undefined) return { action: "cancel" };
    if (answer.value !== undefined) content[member.name] = answer.value as string;
  }
  return { action: "accept", content };
}
