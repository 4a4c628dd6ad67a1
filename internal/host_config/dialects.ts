/** What sets the hosts' files apart: a new host is a new entry of one table. */

import { quoteText } from "../shown_text.ts";

/**
 * Whose file it is: this decides under which key the servers stand (`servers` for `vscode`, else `mcpServers`) and which
 * references are known.
 */
export type HostConfigDialect = "claude_code" | "claude_desktop" | "vscode" | "cursor";

/** A name that an editor gives a value to. */
export type PredefinedName =
  | "workspaceFolder"
  | "workspaceFolderBasename"
  | "userHome"
  | "pathSeparator"
  | "/";

/** What is the same in all files of a host. */
export interface DialectRules {
  /** The key under which the servers stand. */
  readonly serversKey: "mcpServers" | "servers";
  /** Whether a file may be without servers, since it also holds settings. */
  readonly mayBeEmpty: boolean;
  /** How the path of such a file ends, with `/` between names. */
  readonly path: RegExp;
  /** The folder of a project in which the file stands; relative paths are seen from the project. */
  readonly folder: string | undefined;
  /** What may stand before the colon of a reference: `env` for a variable, `input` for what a person is asked. */
  readonly prefixes: readonly ("env" | "input")[];
  /** Names of references that are no variables. */
  readonly predefined: readonly PredefinedName[];
  /** Variables that the host sets to the folder of the file. */
  readonly folderVariables: readonly string[];
  /** Whether `null` removes a variable. */
  readonly nullRemoves: boolean;
}

const EDITOR_NAMES: readonly PredefinedName[] = [
  "workspaceFolder",
  "workspaceFolderBasename",
  "userHome",
  "pathSeparator",
  "/",
];

/** What holds for a host unless its entry says otherwise. */
const COMMON_RULES: Omit<DialectRules, "path"> = {
  serversKey: "mcpServers",
  mayBeEmpty: false,
  folder: undefined,
  prefixes: [],
  predefined: [],
  folderVariables: [],
  nullRemoves: false,
};

/** The hosts. Where nothing else tells whose file it is, the first with the right key is taken. */
export const DIALECTS: Readonly<Record<HostConfigDialect, DialectRules>> = {
  claude_code: {
    ...COMMON_RULES,
    path: /(?:^|\/)\.mcp\.json$/,
    // Of a project's file, and of a plugin's.
    folderVariables: ["CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT"],
  },
  claude_desktop: {
    ...COMMON_RULES,
    mayBeEmpty: true,
    path: /(?:^|\/)claude_desktop_config\.json$/,
  },
  vscode: {
    ...COMMON_RULES,
    serversKey: "servers",
    path: /(?:^|\/)\.vscode\/[^/]*$/,
    folder: ".vscode",
    prefixes: ["env", "input"],
    predefined: EDITOR_NAMES,
    nullRemoves: true,
  },
  cursor: {
    ...COMMON_RULES,
    path: /(?:^|\/)\.cursor\/[^/]*$/,
    folder: ".cursor",
    prefixes: ["env"],
    predefined: EDITOR_NAMES,
  },
};

const NAMES = Object.keys(DIALECTS) as HostConfigDialect[];

/** Whether there is such a dialect. */
export function isDialect(name: unknown): name is HostConfigDialect {
  return typeof name === "string" && Object.hasOwn(DIALECTS, name);
}

/** Tells a dialect by the path, as far as the file has the key that belongs to it; else by the key. */
export function detectDialect(
  path: string | undefined,
  hasKey: (key: string) => boolean,
): HostConfigDialect {
  const end = path?.replaceAll("\\", "/");
  const named = end === undefined ? undefined : NAMES.find((name) => DIALECTS[name].path.test(end));
  if (named !== undefined && hasKey(DIALECTS[named].serversKey)) return named;
  return NAMES.find((name) => hasKey(DIALECTS[name].serversKey)) ?? named ?? NAMES[0]!;
}

/** The project of which a folder is part, if it is the folder of an editor: `/project` for `/project/.vscode`. */
export function isEditorFolder(name: string): boolean {
  return NAMES.some((dialect) => DIALECTS[dialect].folder === name);
}

/** What a reference means in a dialect. */
export type Reference =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "input"; readonly id: string }
  | { readonly kind: "predefined"; readonly name: PredefinedName }
  | { readonly kind: "invalid"; readonly message: string };

/** Tells what a reference means. Environment variables are known to all dialects by their mere name. */
export function readReference(dialect: HostConfigDialect, name: string): Reference {
  const { prefixes, predefined } = DIALECTS[dialect];
  const known = predefined.find((candidate) => candidate === name);
  if (known !== undefined) return { kind: "predefined", name: known };
  const colon = name.indexOf(":");
  const prefix = colon < 0 ? undefined : name.slice(0, colon);
  if (prefix !== undefined && !prefixes.some((candidate) => candidate === prefix)) {
    return {
      kind: "invalid",
      message: `the prefix ${quoteText(`${prefix}:`)} is not known to the dialect "${dialect}"`,
    };
  }
  if (prefix === "input") return { kind: "input", id: name.slice(colon + 1) };
  const variable = name.slice(colon + 1);
  // Windows has two names with parentheses, such as "ProgramFiles(x86)".
  if (/^[A-Za-z_]\w*(?:\(x86\))?$/i.test(variable)) return { kind: "variable", name: variable };
  return { kind: "invalid", message: `${quoteText(variable)} is no name of a variable` };
}
