import { isJSONObject } from "../../messages.ts";
import type { ContentBlock } from "../../schema.ts";

/** By type: the members that a block must have. */
const REQUIRED: ReadonlyMap<unknown, (block: { readonly [name: string]: unknown }) => boolean> = new Map<
  unknown,
  (block: { readonly [name: string]: unknown }) => boolean
>([
  ["text", ({ text }) => typeof text === "string"],
  ["image", ({ data, mimeType }) => typeof data === "string" && typeof mimeType === "string"],
  ["audio", ({ data, mimeType }) => typeof data === "string" && typeof mimeType === "string"],
  ["resource", ({ resource }) => isJSONObject(resource) && typeof resource.uri === "string"],
  ["resource_link", ({ uri, name }) => typeof uri === "string" && typeof name === "string"],
]);

/** Whether a value is a piece of content that clients can read. */
export function isContentBlock(value: unknown): value is ContentBlock {
  return isJSONObject(value) && REQUIRED.get(value.type)?.(value) === true;
}

/** Whether a value can stand among content: a block of a type that is not known here may be of a later revision. */
export function isContent(value: unknown): boolean {
  return isJSONObject(value) && typeof value.type === "string" && REQUIRED.get(value.type)?.(value) !== false;
}
