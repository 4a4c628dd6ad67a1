/** Files that hold their servers where nobody looks for them: what they look like, and where the servers belong. */

import { quoteText } from "../shown_text.ts";
import { DIALECTS, type HostConfigDialect } from "./dialects.ts";
import { findMember, type JsonNode, type JsonObject } from "./json_tree.ts";
import { findMeant } from "../options.ts";

/** What a file without servers looks like; undefined if it looks like nothing that is known. */
export function findOtherShape(root: JsonObject, dialect: HostConfigDialect): string | undefined {
  const { serversKey } = DIALECTS[dialect];
  const key = quoteText(serversKey);
  const inside = root.find("mcp")?.value;
  if (inside !== undefined && findMember(inside, "servers") !== undefined) {
    return `"mcp" has them, as in the settings of VS Code: "servers" belongs in a file of its own, ".vscode/mcp.json"`;
  }
  const other = Object.entries(DIALECTS).find(([, rules]) => root.find(rules.serversKey) !== undefined);
  if (other !== undefined) {
    return `there is "${other[1].serversKey}": is it a file of the dialect "${other[0]}"?`;
  }
  const meant = root.members.find((member) => findMeant(member.key, [serversKey]) !== undefined);
  if (meant !== undefined) return `did you mean it by ${quoteText(meant.key)}?`;
  if (isEntry(root)) return `the file is one entry: it belongs in ${key}, under a name`;
  if (root.members.some(({ value }) => isEntry(value))) {
    return `the servers stand at the top: they belong in ${key}`;
  }
  const foreign = root.members.find(({ value }) => hasEntries(value));
  return foreign === undefined
    ? undefined
    : `${quoteText(foreign.key)} has them, as with a host whose files are not read: they belong in ${key}`;
}

function hasEntries(node: JsonNode): boolean {
  return node.kind === "object" && node.members.some(({ value }) => isEntry(value));
}

function isEntry(node: JsonNode): boolean {
  return findMember(node, "command") !== undefined || findMember(node, "url")?.value.kind === "string";
}
