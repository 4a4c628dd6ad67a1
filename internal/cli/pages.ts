/** All pages of a list. */

import type { Client } from "../../client.ts";
import { InvalidResponseError } from "../../errors.ts";
import { isJSONObject, type Result } from "../../messages.ts";
import type { CoreMethods } from "../../methods.ts";

/** The lists that there are, and under which key their items stand. */
interface ListKeys {
  "tools/list": "tools";
  "resources/list": "resources";
  "resources/templates/list": "resourceTemplates";
  "prompts/list": "prompts";
}

/** What a list has. */
type Items<Method extends keyof ListKeys> = CoreMethods[Method]["result"] extends
  { [Key in ListKeys[Method]]: Array<infer Item> } ? Item[] : never;

/**
 * Asks for page after page.
 *
 * @throws {InvalidResponseError} If a page is none, or the pages never end.
 */
export async function collectPages<Method extends keyof ListKeys>(
  client: Client,
  method: Method,
  key: ListKeys[Method],
): Promise<Items<Method>> {
  const items: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page: Result = await client.request(method as string, cursor === undefined ? {} : { cursor });
    const { [key as string]: part, nextCursor } = page;
    if (!Array.isArray(part) || !part.every(isJSONObject)) {
      throw new InvalidResponseError(method, `its "${key}" are no list of objects`);
    }
    items.push(...part);
    cursor = typeof nextCursor === "string" ? nextCursor : undefined;
    if (cursor !== undefined && seen.has(cursor)) {
      throw new InvalidResponseError(method, "its pages go in a circle: a cursor has come twice");
    }
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined);
  return items as Items<Method>;
}
