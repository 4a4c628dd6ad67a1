/** What tools, resources and prompts give, as text for a terminal. It comes from a server: every field may be anything. */

import { isJSONObject, type JSONObject } from "../../messages.ts";
import { decodeBase64 } from "./base64.ts";
import { showJson, showLine, showText } from "./shown_text.ts";

/** A block of content, in lines. */
export function formatBlock(block: unknown): string {
  if (!isJSONObject(block)) return showJson(block);
  switch (block.type) {
    case "text":
      return showText(String(block.text ?? ""));
    case "image":
    case "audio":
      return formatBytes(String(block.type), block.mimeType, block.data);
    case "resource":
      return isJSONObject(block.resource) ? formatContents(block.resource) : showJson(block);
    case "resource_link":
      return `[resource ${showLine(String(block.uri), 500)}${
        typeof block.name === "string" ? `: ${showLine(block.name, 200)}` : ""
      }]`;
    default:
      return showJson(block);
  }
}

/** The contents of a resource, in lines. */
export function formatContents({ text, blob, mimeType, uri }: JSONObject): string {
  if (typeof text === "string") return showText(text);
  return formatBytes(`resource ${showLine(String(uri), 500)}`, mimeType, blob);
}

function formatBytes(what: string, mimeType: unknown, base64: unknown): string {
  const size = typeof base64 === "string" ? Math.floor(base64.replace(/=+$/, "").length * 3 / 4) : 0;
  const type = typeof mimeType === "string" ? `, ${showLine(mimeType, 100)}` : "";
  return `[${what}${type}, ${size} bytes: --raw writes them]`;
}

/** What a block or contents hold, just as it is: text, or the bytes of base64. Undefined where it holds neither. */
export function rawContent(block: unknown): string | Uint8Array | undefined {
  if (!isJSONObject(block)) return undefined;
  if (block.type === "resource") return rawContent(block.resource);
  if (typeof block.text === "string") return block.text;
  const base64 = [block.blob, block.data].find((value) => typeof value === "string");
  return base64 === undefined ? undefined : decodeBase64(base64 as string);
}
