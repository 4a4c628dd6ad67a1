import { ProtocolError } from "../../errors.ts";
import { ErrorCode, isJSONObject, type Params, type Result } from "../../messages.ts";
import type { Completer, PromptDefinition } from "../../schema.ts";
import type { ActiveRequest } from "./active_request.ts";
import { pageOf } from "./pages.ts";
import type { Handler } from "./settings.ts";
import { checkDefinition, DefinitionSet } from "./definition_checks.ts";
import { isContent } from "./results.ts";
import { invalidParams, OutputError } from "./error_answers.ts";

/** What a definition may have. */
const MEMBERS: { readonly [Member in keyof PromptDefinition]-?: true } = {
  title: true,
  description: true,
  arguments: true,
  icons: true,
  _meta: true,
  get: true,
};

/** The prompts of a server, in the order of their definition. */
export class PromptSet extends DefinitionSet {
  readonly #prompts = new Map<string, PromptDefinition>();

  /** How many there are. */
  get size(): number {
    return this.#prompts.size;
  }

  /** Whether a prompt completes an argument. */
  get completes(): boolean {
    return [...this.#prompts.values()].some((prompt) =>
      Object.values(prompt.arguments ?? {}).some(({ complete }) => complete !== undefined)
    );
  }

  /**
   * Adds a prompt, or replaces the one of that name.
   *
   * @throws {TypeError} If the definition cannot be used.
   */
  add(name: string, definition: PromptDefinition): void {
    if (name === "") throw new TypeError("Cannot define a prompt: its name is empty");
    const owner = `prompt "${name}"`;
    checkDefinition(owner, definition, "get", Object.keys(MEMBERS), this.tell);
    const { arguments: args = {} } = definition;
    if (!isJSONObject(args)) {
      throw new TypeError(`Cannot define ${owner}: "arguments" must be an object, each under its name`);
    }
    this.#prompts.set(name, definition);
  }

  /** Removes a prompt. Returns false if there was none of that name. */
  remove(name: string): boolean {
    return this.#prompts.delete(name);
  }

  /** What answers the prompts' methods. */
  handlers(): Array<[string, Handler]> {
    return [
      ["prompts/list", (params) => this.#list(params)],
      ["prompts/get", (params, context) => this.#get(params, context)],
    ];
  }

  /** What completes an argument of a prompt, or undefined if nothing does. */
  completerOf(name: string, argument: string): Completer | undefined {
    const { arguments: args = {} } = this.#find(name);
    return Object.hasOwn(args, argument) ? args[argument]?.complete : undefined;
  }

  #list(params: Params): Result {
    return pageOf("prompts", this.#prompts, toListing, params, this.pageSize);
  }

  async #get(params: Params, context: ActiveRequest): Promise<Result> {
    const { name, arguments: args = {} } = params;
    if (typeof name !== "string") throw invalidParams(`"name" is not a string`);
    if (!isJSONObject(args) || Object.values(args).some((value) => typeof value !== "string")) {
      throw invalidParams(`"arguments" is not an object of strings`);
    }
    const definition = this.#find(name);
    for (const [argument, { required }] of Object.entries(definition.arguments ?? {})) {
      if (required && !Object.hasOwn(args, argument)) {
        throw invalidParams(`the argument "${argument}" is missing`);
      }
    }
    const output = await definition.get(args as { [name: string]: string }, context);
    return toResult(name, definition.description, output);
  }

  #find(name: string): PromptDefinition {
    const definition = this.#prompts.get(name);
    if (definition !== undefined) return definition;
    throw new ProtocolError(ErrorCode.invalidParams, `Unknown prompt: ${name.slice(0, 128)}`);
  }
}

function toListing(definition: PromptDefinition, name: string): Params {
  const { title, description, icons, _meta } = definition;
  const args = Object.entries(definition.arguments ?? {}).map(([name, { title, description, required }]) => ({
    name,
    title,
    description,
    required,
  }));
  return { name, title, description, arguments: args.length === 0 ? undefined : args, icons, _meta };
}

/** What a prompt gave, as a result (rule O1). */
function toResult(name: string, description: string | undefined, output: unknown): Result {
  const about = description === undefined ? {} : { description };
  if (typeof output === "string") {
    return { ...about, messages: [{ role: "user", content: { type: "text", text: output } }] };
  }
  if (isJSONObject(output) && output.resultType === "input_required") return output;
  const isWhole = isJSONObject(output) && output.messages !== undefined;
  const messages = isWhole ? output.messages : Array.isArray(output) ? output : [output];
  if (!Array.isArray(messages) || !messages.every(isMessage)) {
    const state = "neither text, messages with a role and content, nor a result with messages";
    throw new OutputError(`prompt "${name}" gave ${state}`);
  }
  return isWhole ? { ...about, ...output } : { ...about, messages };
}

function isMessage(value: unknown): boolean {
  return isJSONObject(value) && (value.role === "user" || value.role === "assistant") &&
    isContent(value.content);
}
