/** The compatibility matrix: its clients, its servers, and what is to be spoken between each two of them. */

import { tmpdir } from "node:os";
import type { CellJob, ClientKind } from "./matrix_cell.ts";
import { type Command, fixture, packageProgram, type Runtime } from "./harness.ts";

/** What stands in a cell; the errors by the words of {@linkcode ERRORS}. */
export type Word = "modern" | "legacy" | "no era" | "no version" | "timeout";

/** What each outcome is called in the table. */
const SPOKEN: { readonly [text: string]: Word } = {
  "modern 2026-07-28": "modern",
  "legacy 2025-11-25": "legacy",
};

/** The errors that are the right ones, by client. */
export const ERRORS: ReadonlyArray<readonly [Word, meaning: string, errors: readonly string[]]> = [
  ["no era", "the one that the client insists on is not there", [
    "SdkError ERA_NEGOTIATION_FAILED",
  ]],
  ["no version", "the server names the revisions that it has", [
    "McpError -32022",
    "ProtocolError -32022",
  ]],
  ["timeout", "no answer", [
    "NegotiationError negotiation_timeout",
    "McpError -32001",
    "SdkError REQUEST_TIMEOUT",
  ]],
];

/** The word for an outcome; an unexpected one is its own. */
export function wordFor(text: string): string {
  return SPOKEN[text] ?? ERRORS.find(([, , errors]) => errors.includes(text))?.[0] ?? text;
}

/** The columns. */
export const CLIENTS: ReadonlyArray<{ readonly name: string; readonly kind: ClientKind }> = [
  { name: "ours", kind: "ours" },
  { name: "SDK v1", kind: "v1" },
  { name: "SDK v2, legacy", kind: "v2 legacy" },
  { name: "SDK v2, auto", kind: "v2 auto" },
  { name: "SDK v2, pinned", kind: "v2 pinned" },
];

/** A row: a server, and what it speaks with the clients, in the order of the columns. */
export interface MatrixServer {
  readonly name: string;
  /** Whether code of ours runs in it, which is then tried on each runtime. */
  readonly isOurs: boolean;
  command(runtime: Runtime): Command;
  readonly call: CellJob["call"];
  /** How long it may leave a request unanswered. */
  readonly probeMs: number;
  readonly requestMs: number;
  readonly expected: readonly [Word, Word, Word, Word, Word];
}

const BOTH_ERAS = ["modern", "legacy", "legacy", "modern", "modern"] as const;
const LEGACY_ONLY = ["legacy", "legacy", "legacy", "legacy", "no era"] as const;

type Row = Pick<MatrixServer, "name" | "command" | "expected"> & Partial<MatrixServer>;

/** A busy machine may need so long to start a program. */
const PATIENT = { isOurs: false, probeMs: 30_000, requestMs: 60_000, call: add() };

/** The rows. */
export const SERVERS: readonly MatrixServer[] = ([
  {
    name: "ours",
    isOurs: true,
    command: ({ run }) => run("examples/everything_server"),
    expected: BOTH_ERAS,
  },
  behind("SDK v1 over our transport", LEGACY_ONLY, "v1", "connect"),
  behind("SDK v2 over our transport", LEGACY_ONLY, "v2", "connect"),
  behind("SDK v1 by our `serve()`", LEGACY_ONLY, "v1", "serve"),
  behind("SDK v2 by our `serve()`", BOTH_ERAS, "v2", "serve"),
  { name: "SDK v1", command: () => fixture("sdk_v1_server.mjs"), expected: LEGACY_ONLY },
  { name: "SDK v2 by `serveStdio()`", command: () => fixture("sdk_v2_server.mjs"), expected: BOTH_ERAS },
  {
    name: "SDK v2, modern only",
    command: () => fixture("sdk_v2_server.mjs", "reject"),
    expected: ["modern", "no version", "no version", "modern", "modern"],
  },
  reference("server-everything", ["echo", { message: "a word" }, "a word"]),
  reference("server-filesystem", ["list_allowed_directories", {}, tmpdir()], tmpdir()),
  reference("server-memory", ["read_graph", {}, "entities"]),
  reference("server-sequential-thinking", [
    "sequentialthinking",
    { thought: "a first one", thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false },
    "thoughtNumber",
  ]),
  {
    name: "exits at an unknown method",
    command: () => fixture("sdk_transport_raw.mjs", "exits"),
    expected: LEGACY_ONLY,
  },
  {
    name: "silent at an unknown method",
    command: () => fixture("sdk_transport_raw.mjs", "silent"),
    expected: LEGACY_ONLY,
    probeMs: 1_000,
  },
  {
    name: "never says anything",
    command: () => fixture("sdk_transport_raw.mjs", "mute"),
    expected: ["timeout", "timeout", "timeout", "timeout", "no era"],
    probeMs: 1_000,
    requestMs: 2_500,
  },
] satisfies Row[]).map((row: Row) => ({ ...PATIENT, ...row }));

function add(): CellJob["call"] {
  return ["add", { a: 2, b: 40 }, "42"];
}

function behind(name: string, expected: MatrixServer["expected"], sdk: string, how: string): Row {
  const command = ({ run }: Runtime) => run("tests/peers/fixtures/sdk_transport_server", sdk, how);
  return { name, isOurs: true, command, expected };
}

function reference(name: string, call: CellJob["call"], ...args: string[]): Row {
  return { name, command: () => packageProgram(`mcp-${name}`, ...args), call, expected: LEGACY_ONLY };
}

/** The table as it is printed and stands in the README. */
export function formatTable(rows: ReadonlyArray<readonly [server: string, ...cells: string[]]>): string {
  const head = ["server \\ client", ...CLIENTS.map(({ name }) => name)];
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const format = (line: readonly string[]) =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  const legend = ERRORS.map(([word, meaning, errors]) =>
    `- _${word}_: ${meaning} (${errors.map((error) => `\`${error}\``).join(", ")})`
  );
  return [format(head), rule, ...rows.map(format), "", ...legend].join("\n");
}
