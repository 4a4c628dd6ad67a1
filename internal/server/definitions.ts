import type { ServerCapabilities } from "../../messages.ts";
import type { Tell } from "./definition_checks.ts";
import { PromptSet } from "./prompts.ts";
import { ResourceSet } from "./resources.ts";
import type { Handler } from "./settings.ts";
import { ToolSet } from "./tools.ts";

/** Everything a one-file server defines, and what follows from it: capabilities and handlers (rule O3). */
export class Definitions {
  readonly tools: ToolSet;
  readonly resources: ResourceSet;
  readonly prompts: PromptSet;
  /** What has been declared stays: clients were told, and ask on (rule O3). */
  #declared: ServerCapabilities = {};

  constructor(pageSize: number, tell: Tell) {
    this.tools = new ToolSet(pageSize, tell);
    this.resources = new ResourceSet(pageSize, tell);
    this.prompts = new PromptSet(pageSize, tell);
  }

  /** What the server can do by what is defined, or once was. */
  capabilities(): ServerCapabilities {
    this.#declared = {
      ...this.#declared,
      ...(this.tools.size > 0 ? { tools: { listChanged: true } } : {}),
      ...(this.resources.size > 0 ? { resources: { subscribe: true, listChanged: true } } : {}),
      ...(this.prompts.size > 0 ? { prompts: { listChanged: true } } : {}),
      ...(this.prompts.completes || this.resources.completes ? { completions: {} } : {}),
    };
    return this.#declared;
  }

  /** The handlers of the features that the capabilities name. */
  handlers(capabilities: ServerCapabilities): Array<[string, Handler]> {
    return [
      ...(capabilities.tools === undefined ? [] : this.tools.handlers()),
      ...(capabilities.resources === undefined ? [] : this.resources.handlers()),
      ...(capabilities.prompts === undefined ? [] : this.prompts.handlers()),
      ...(capabilities.completions === undefined ? [] : [this.#completion()]),
    ];
  }

  /** Not part of a first answer, so that what it takes is loaded then. */
  #completion(): [string, Handler] {
    return ["completion/complete", async (params) => {
      const { complete } = await import("./completion.ts");
      return await complete(params, this);
    }];
  }
}
