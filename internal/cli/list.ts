/** `list`: what a server has, page by page. */

import type { Client } from "../../client.ts";
import { ProtocolError } from "../../errors.ts";
import { ErrorCode, isJSONObject } from "../../messages.ts";
import type { Prompt, Resource, ResourceTemplate, Tool } from "../../methods.ts";
import { EXIT, type ExitCode, type Invocation, UsageError } from "./command.ts";
import type { CliIo } from "./io.ts";
import { collectPrompts, collectResources, collectTemplates, collectTools } from "./pages.ts";
import type { Screen } from "./screen.ts";
import { withClient } from "./session.ts";
import { cutToWidth, showLine } from "./shown_text.ts";

/** Everything that can be listed. */
interface Lists {
  tools?: Tool[];
  resources?: Resource[];
  resourceTemplates?: ResourceTemplate[];
  prompts?: Prompt[];
}

const KINDS = ["tools", "resources", "templates", "prompts"] as const;
type Kind = typeof KINDS[number];

/** Runs it. */
export async function runList(invocation: Invocation, io: CliIo): Promise<ExitCode> {
  const [word] = invocation.words;
  const kind = KINDS.find((candidate) => candidate === word);
  if (word !== undefined && kind === undefined) {
    throw new UsageError(`Cannot list ${JSON.stringify(word)}: it is one of ${KINDS.join(", ")}`);
  }
  return await withClient(invocation, io, async (client) => {
    const lists = await readLists(client, kind, io.interrupted);
    if (invocation.isJson) io.screen.json({ server: client.serverInfo ?? null, ...lists });
    else showLists(client, lists, io.screen);
    return EXIT.ok;
  });
}

/** Asks for one kind, whether the server says that it has it or not; without one, for all that it says it has. */
async function readLists(client: Client, kind: Kind | undefined, signal: AbortSignal): Promise<Lists> {
  const { tools, resources, prompts } = client.capabilities;
  const wants = (one: Kind, capability: unknown): boolean =>
    kind === undefined ? capability !== undefined : kind === one;
  const lists: Lists = {};
  if (wants("tools", tools)) lists.tools = await collectTools(client, signal);
  if (wants("resources", resources)) lists.resources = await collectResources(client, signal);
  if (wants("templates", resources)) lists.resourceTemplates = await readTemplates(client, kind, signal);
  if (wants("prompts", prompts)) lists.prompts = await collectPrompts(client, signal);
  return lists;
}

/** Many servers have resources, say nothing of templates, and know no such method. */
async function readTemplates(
  client: Client,
  kind: Kind | undefined,
  signal: AbortSignal,
): Promise<ResourceTemplate[]> {
  try {
    return await collectTemplates(client, signal);
  } catch (error) {
    if (kind === undefined && error instanceof ProtocolError && error.code === ErrorCode.methodNotFound) {
      return [];
    }
    throw error;
  }
}

function showLists(client: Client, lists: Lists, screen: Screen): void {
  const { serverInfo, era, protocolVersion } = client;
  const name = showLine(
    [serverInfo?.title ?? serverInfo?.name, serverInfo?.version].filter(Boolean).join(" "),
    200,
  );
  screen.result(
    `${screen.out.bold(name || "a server without a name")}  ${screen.out.dim(`${era} ${protocolVersion}`)}`,
  );
  showList("tools", lists.tools?.map((tool) => [tool.name, argumentsOfTool(tool), aboutOf(tool)]), screen);
  showList("resources", lists.resources?.map((resource) => [resource.uri, "", aboutOf(resource)]), screen);
  showList(
    "templates",
    lists.resourceTemplates?.map((template) => [template.uriTemplate, "", aboutOf(template)]),
    screen,
  );
  showList(
    "prompts",
    lists.prompts?.map((prompt) => [prompt.name, argumentsOfPrompt(prompt), aboutOf(prompt)]),
    screen,
  );
}

/** Rows of a name, what it takes, and what it is for. */
function showList(
  kind: Kind,
  rows: ReadonlyArray<readonly [string, string, string]> | undefined,
  screen: Screen,
): void {
  if (rows === undefined) return;
  screen.result();
  if (rows.length === 0) return screen.result(screen.out.dim(`no ${kind}`));
  screen.result(screen.out.bold(kind));
  const heads = rows.map(([name, args]) => [showLine(String(name), 300), showLine(args, 200)] as const);
  const width = Math.min(44, Math.max(...heads.map(([name, args]) => headOf(name, args).length)));
  for (const [index, [name, args]] of heads.entries()) {
    const plain = headOf(name, args);
    const head = `  ${screen.out.cyan(name)}${args === "" ? "" : ` ${screen.out.dim(args)}`}`;
    const about = rows[index]![2];
    if (about === "") screen.result(head);
    else if (plain.length > width) screen.result(`${head}\n${indented(about, width + 4, screen)}`);
    else screen.result(`${head}${" ".repeat(width - plain.length)}${indented(about, 2, screen, width + 4)}`);
  }
}

function headOf(name: string, args: string): string {
  return args === "" ? name : `${name} ${args}`;
}

function indented(about: string, indent: number, { columns }: Screen, at: number = indent): string {
  const shown = columns === undefined ? about : cutToWidth(about, Math.max(20, columns - at));
  return " ".repeat(indent) + shown;
}

/** The first line of what it is for. */
function aboutOf({ description, title }: { description?: unknown; title?: unknown }): string {
  const text = [description, title].find((value) => typeof value === "string" && value.trim() !== "");
  return showLine(String(text ?? "").trim().split("\n")[0]!, 400);
}

/** Names of arguments; those that may be left away stand in brackets. */
function argumentsOfTool({ inputSchema }: Tool): string {
  const { properties, required } = isJSONObject(inputSchema) ? inputSchema : {};
  if (!isJSONObject(properties)) return "";
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.keys(properties).map((name) => needed.has(name) ? name : `[${name}]`).join(" ");
}

function argumentsOfPrompt(prompt: Prompt): string {
  const args = Array.isArray(prompt.arguments) ? prompt.arguments.filter(isJSONObject) : [];
  return args.map(({ name, required }) => required === true ? String(name) : `[${name}]`).join(" ");
}
