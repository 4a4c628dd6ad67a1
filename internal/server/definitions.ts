import { isJSONObject, type Params, type Result, type ServerCapabilities } from "../../messages.ts";
import type { Completer } from "../../schema.ts";
import { PromptSet } from "./prompts.ts";
import { ResourceSet } from "./resources.ts";
import type { Handler } from "./settings.ts";
import { ToolSet } from "./tools.ts";
import { invalidParams } from "./wire_errors.ts";

/** As many completions as one result may hold (completion page). */
const MAX_COMPLETIONS = 100;

/** Everything a one-file server defines, and what follows from it: capabilities and handlers (rule O3). */
export class Definitions {
  readonly tools: ToolSet;
  readonly resources: ResourceSet;
  readonly prompts: PromptSet;
  /** What has been declared stays: clients were told, and ask on (rule O3). */
  #declared: ServerCapabilities = {};

  constructor(pageSize: number) {
    this.tools = new ToolSet(pageSize);
    this.resources = new ResourceSet(pageSize);
    this.prompts = new PromptSet(pageSize);
  }

  /** What the server can do by what is defined, or once was. */
  capabilities(): ServerCapabilities {
    this.#declared = {
      ...this.#declared,
      ...(this.tools.size > 0 ? { tools: { listChanged: true } } : {}),
      ...(this.resources.size > 0 ? { resources: { subscribe: true, listChanged: true } } : {}),
      ...(this.prompts.size > 0 ? { prompts: { listChanged: true } } : {}),
      ...(this.#completes ? { completions: {} } : {}),
    };
    return this.#declared;
  }

  /** The handlers of the features that the capabilities name. */
  handlers(capabilities: ServerCapabilities): Array<[string, Handler]> {
    return [
      ...(capabilities.tools === undefined ? [] : this.tools.handlers()),
      ...(capabilities.resources === undefined ? [] : this.resources.handlers()),
      ...(capabilities.prompts === undefined ? [] : this.prompts.handlers()),
      ...(capabilities.completions === undefined
        ? []
        : [["completion/complete", (params) => this.#complete(params)] as [string, Handler]]),
    ];
  }

  get #completes(): boolean {
    return this.prompts.completes || this.resources.completes;
  }

  async #complete(params: Params): Promise<Result> {
    const { ref, argument, context } = params;
    if (!isJSONObject(argument) || typeof argument.name !== "string" || typeof argument.value !== "string") {
      throw invalidParams(`"argument" has no "name" and "value"`);
    }
    const completer = this.#completerOf(ref, argument.name);
    const found = await completer?.(argument.value, { arguments: readKnownArguments(context) }) ?? [];
    const values = found.slice(0, MAX_COMPLETIONS);
    return { completion: { values, total: found.length, hasMore: found.length > values.length } };
  }

  #completerOf(ref: unknown, argument: string): Completer | undefined {
    if (isJSONObject(ref) && ref.type === "ref/prompt" && typeof ref.name === "string") {
      return this.prompts.completerOf(ref.name, argument);
    }
    if (isJSONObject(ref) && ref.type === "ref/resource" && typeof ref.uri === "string") {
      return this.resources.completerOf(ref.uri, argument);
    }
    throw invalidParams(`"ref" names neither a prompt nor a resource`);
  }
}

/** What is known of the other arguments already. */
function readKnownArguments(context: unknown): { [name: string]: string } {
  if (context === undefined) return {};
  const { arguments: known = {} } = isJSONObject(context) ? context : { arguments: undefined };
  if (
    !isJSONObject(context) || !isJSONObject(known) ||
    Object.values(known).some((value) => typeof value !== "string")
  ) {
    throw invalidParams(`"context.arguments" is not an object of strings`);
  }
  return known as { [name: string]: string };
}
