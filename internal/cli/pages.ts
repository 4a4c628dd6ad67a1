/** All items of a list, through all of its pages; the signal gives it up. */

import type { Client } from "../../client.ts";
import { InvalidResponseError } from "../../errors.ts";
import { isJSONObject } from "../../messages.ts";
import type { Prompt, Resource, ResourceTemplate, Tool } from "../../methods.ts";

/** The tools of a server. */
export function collectTools(client: Client, signal: AbortSignal): Promise<Tool[]> {
  return collect("tools/list", client.tools({ signal }));
}

/** Its resources. */
export function collectResources(client: Client, signal: AbortSignal): Promise<Resource[]> {
  return collect("resources/list", client.resources({ signal }));
}

/** Its templates of resources. */
export function collectTemplates(client: Client, signal: AbortSignal): Promise<ResourceTemplate[]> {
  return collect("resources/templates/list", client.resourceTemplates({ signal }));
}

/** Its prompts. */
export function collectPrompts(client: Client, signal: AbortSignal): Promise<Prompt[]> {
  return collect("prompts/list", client.prompts({ signal }));
}

/** What is no object has nothing that could be shown. */
async function collect<Item>(method: string, items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) {
    if (!isJSONObject(item)) throw new InvalidResponseError(method, "one of its items is no object");
    collected.push(item);
  }
  return collected;
}
