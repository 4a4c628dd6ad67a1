/** What VS Code asks a person for, as its files describe it. */

import { findMember, type JsonNode } from "./json_tree.ts";
import type { HostConfigInput } from "./shapes.ts";

/** Reads the inputs of a file. What has no id is none: nothing can refer to it. */
export function readInputs(root: JsonNode): HostConfigInput[] {
  const inputs = findMember(root, "inputs")?.value;
  return inputs?.kind === "array" ? inputs.items.flatMap(readInput) : [];
}

function readInput(node: JsonNode): HostConfigInput[] {
  const id = getText(node, "id");
  if (id === undefined) return [];
  const password = findMember(node, "password")?.value;
  const options = findMember(node, "options")?.value;
  return [{
    id,
    type: getText(node, "type") ?? "promptString",
    description: getText(node, "description"),
    default: getText(node, "default"),
    password: password?.kind === "boolean" && password.value,
    options: options?.kind === "array"
      ? options.items.flatMap((item) => item.kind === "string" ? [item.value] : [])
      : [],
  }];
}

function getText(node: JsonNode, key: string): string | undefined {
  const value = findMember(node, key)?.value;
  return value?.kind === "string" ? value.value : undefined;
}
