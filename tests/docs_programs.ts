// What the docs show is run: the programs behind their blocks, and the commands of their shell blocks.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import process from "node:process";
import type { TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { strangerCommand } from "./_stranger.ts";
import { runCli } from "./cli_helpers.ts";
import type { Block } from "./docs_pages.ts";
import { commandOf, programPath } from "./server_processes.ts";

/** What a program has said. */
export interface Said {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How to run a program. */
export interface RunOptions {
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly typed?: string;
}

/** Runs an example, such as `examples/first_client`, to its end on the runtime under test. */
export async function runExample(t: TestContext, name: string, options: RunOptions = {}): Promise<Said> {
  const [command = "", ...args] = commandOf(name, options.args);
  return await run(t, command, args, options);
}

async function run(
  t: TestContext,
  command: string,
  args: readonly string[],
  options: RunOptions,
): Promise<Said> {
  // Examples start each other by the runtime's name.
  const PATH = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const child = spawn(command, args, { stdio: "pipe", cwd: options.cwd, env: { ...process.env, PATH } });
  t.after(() => void child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => stdout += chunk);
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => stderr += chunk);
  child.stdin.end(options.typed ?? "");
  const [code] = await once(child, "close") as [number | null];
  return { code, stdout, stderr };
}

/** Whether a line of a shell block is one that this module can run. */
export function canRun(written: string): boolean {
  const line = written.replace(/^echo '[^']*' \| /, "");
  return cliWordsOf(wordsOf(line)) !== undefined || exampleOf(wordsOf(line)) !== undefined;
}

/** Where the lines of a shell block run, one after the other. */
export interface Shell {
  /** The host's file of the page, if it has one. */
  readonly hostFile: Block | undefined;
  /** Where recordings and pages are written. */
  readonly folder: string;
}

/** Makes a shell. */
export function openShell(hostFile: Block | undefined): Shell {
  return { hostFile, folder: mkdtempSync(join(tmpdir(), "docs-")) };
}

/** Removes what a shell has written. */
export function closeShell({ folder }: Shell): void {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Runs a line of a shell block, such as `npx @mcp/stdio list -- deno run forecast.ts` or `echo '…' | deno run forecast.ts`. A server
 * behind `--`, or in a host's file of the page, is a stranger to it.
 */
export async function runLine(
  t: TestContext,
  line: string,
  shell: Shell,
  { wantsStderr }: { wantsStderr: boolean },
): Promise<Said> {
  const [, piped, command = line] = /^echo '([^']*)' \| (.*)$/.exec(line) ?? [];
  const words = wordsOf(command);
  const cliWords = cliWordsOf(words);
  if (cliWords !== undefined) {
    const args = toRun(cliWords, shell);
    // A server writes to the stderr of its process.
    return wantsStderr ? await runExample(t, "cli", { args }) : await runCli(args);
  }
  const [name = "", ...args] = exampleOf(words) ?? [];
  return await runExample(t, name, { args, ...(piped === undefined ? {} : { typed: `${piped}\n` }) });
}

/** The words of a command line of this module as they are run. */
function toRun(words: readonly string[], shell: Shell): string[] {
  const at = words.indexOf("--");
  const [own, server] = at < 0 ? [words, []] : [words.slice(0, at), words.slice(at + 1)];
  const shown = own.map((word) => {
    if (word === ".mcp.json") return writeHostFile(shell);
    return /^[\w-]+\.(?:ndjson|html)$/.test(word) ? join(shell.folder, word) : word;
  });
  return at < 0 ? shown : [...shown, "--", ...commandFor(server, shell)];
}

/** A server's command as it is run: an example, or this module's program before one. */
function commandFor(words: readonly string[], shell: Shell): string[] {
  const cliWords = cliWordsOf(words);
  if (cliWords !== undefined) return commandOf("cli", toRun(cliWords, shell));
  const [name, ...args] = exampleOf(words) ?? [];
  return name === undefined ? [...words] : strangerCommand(name, args);
}

/** The words of a line; quotes keep words together. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2")
  );
}

/** The words behind the name of this module's program; undefined for another one. */
export function cliWordsOf(words: readonly string[]): readonly string[] | undefined {
  if (words[0] === "mcp-stdio") return words.slice(1);
  return words[1] === "@mcp/stdio" && (words[0] === "npx" || words[0] === "bunx")
    ? words.slice(2)
    : undefined;
}

/** The example that a command runs, with its arguments: a whole path means its file, another one is seen from the examples. */
function exampleOf(words: readonly string[]): string[] | undefined {
  const [runtime = "", ...rest] = words;
  if (!["deno", "bun", "node"].includes(runtime)) return undefined;
  const at = rest.findIndex((word) => word.endsWith(".ts"));
  if (at < 0) return undefined;
  const path = rest[at]!.startsWith("/") ? basename(rest[at]!) : rest[at]!;
  return [`examples/${path.replace(/\.ts$/, "")}`, ...rest.slice(at + 1)];
}

/** Writes the host's file of a page, but with the examples where they stand. */
function writeHostFile(shell: Shell): string {
  if (shell.hostFile === undefined) throw new Error("the page has no host's file");
  const { mcpServers } = JSON.parse(shell.hostFile.body) as { mcpServers: { [name: string]: Entry } };
  const servers = Object.entries(mcpServers).map(([name, entry]) => {
    const [command, ...args] = commandFor([entry.command, ...entry.args], shell);
    return [name, { ...entry, command, args }] as const;
  });
  const path = join(shell.folder, ".mcp.json");
  writeFileSync(path, JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
  return path;
}

interface Entry {
  readonly command: string;
  readonly args: readonly string[];
}

/** Whether a text is the one shown: `<ms>` and its kin stand for what varies, a line of `…` for any lines. */
export function isShownAs(text: string, shown: string): boolean {
  const escaped = shown.trimEnd().split("\n").map((line) => {
    if (line.trim() === "…") return "[^]*?";
    return line.trimEnd().split(/<(?:ms|pid|path|version|id)>|…/).map(escapeRegExp).join(".+?");
  });
  return new RegExp(`^${escaped.join("\\n")}\\s*$`, "u").test(text.replaceAll(/[ \t]+$/gm, ""));
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** The path of an example as a URL, to be imported. */
export function exampleUrl(name: string): string {
  return pathToFileURL(programPath(name)).href;
}
