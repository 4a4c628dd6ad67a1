/** What sets the hosts' files apart: under which key the servers stand, and which references their strings may hold. */

import { quoteText } from "../shown_text.ts";

/** A host whose file is read. */
export type Dialect = "claude_desktop" | "claude_code" | "vscode" | "cursor";

/** What a reference means in a dialect. */
export type Reference =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "input"; readonly id: string }
  | { readonly kind: "predefined"; readonly name: PredefinedName }
  | { readonly kind: "invalid"; readonly message: string };

const PREDEFINED_NAMES = [
  "workspaceFolder",
  "workspaceFolderBasename",
  "userHome",
  "pathSeparator",
  "/",
] as const;

/** A name that an editor gives a value to. */
export type PredefinedName = typeof PREDEFINED_NAMES[number];

const PREFIXES: Readonly<Record<Dialect, readonly string[]>> = {
  claude_desktop: [],
  claude_code: [],
  vscode: ["env", "input"],
  cursor: ["env"],
};

/** The key under which the servers of a dialect stand. */
export function getServersKey(dialect: Dialect): "mcpServers" | "servers" {
  return dialect === "vscode" ? "servers" : "mcpServers";
}

/**
 * Tells a dialect by the path, as far as the file has the key that belongs to it; else by the key. A file that has both
 * and a path that says nothing is read as Claude Code's.
 */
export function detectDialect(path: string | undefined, keys: readonly string[]): Dialect {
  const named = path === undefined ? undefined : detectByPath(path.replaceAll("\\", "/"));
  if (named !== undefined && keys.includes(getServersKey(named))) return named;
  if (keys.includes("servers") && !keys.includes("mcpServers")) return "vscode";
  return keys.includes("mcpServers") && named === "vscode" ? "claude_code" : named ?? "claude_code";
}

function detectByPath(path: string): Dialect | undefined {
  if (/(?:^|\/)\.vscode\/[^/]*$/.test(path)) return "vscode";
  if (/(?:^|\/)\.cursor\/[^/]*$/.test(path)) return "cursor";
  if (/(?:^|\/)claude_desktop_config\.json$/.test(path)) return "claude_desktop";
  if (/(?:^|\/)\.mcp\.json$/.test(path)) return "claude_code";
  return undefined;
}

/** Tells what a reference means. Environment variables are known to all dialects by their mere name. */
export function readReference(dialect: Dialect, name: string): Reference {
  const isEditor = dialect === "vscode" || dialect === "cursor";
  const predefined = PREDEFINED_NAMES.find((candidate) => candidate === name);
  if (isEditor && predefined !== undefined) return { kind: "predefined", name: predefined };
  const [, prefix, rest = ""] = /^([^:]*):(.*)$/s.exec(name) ?? [];
  if (prefix !== undefined && !PREFIXES[dialect].includes(prefix)) {
    return {
      kind: "invalid",
      message: `the prefix ${quoteText(`${prefix}:`)} is not known to the dialect "${dialect}"`,
    };
  }
  if (prefix === "input") return { kind: "input", id: rest };
  const variable = prefix === undefined ? name : rest;
  // Windows has two names with parentheses, such as "ProgramFiles(x86)".
  if (/^[A-Za-z_]\w*(?:\(x86\))?$/i.test(variable)) return { kind: "variable", name: variable };
  return { kind: "invalid", message: `${quoteText(variable)} is no name of a variable` };
}
