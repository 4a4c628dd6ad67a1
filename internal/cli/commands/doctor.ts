/** `doctor`: whether a server keeps the rules of stdio. */

import type { Command, OptionSpecs } from "../command.ts";

const TOOLS: ReadonlyArray<readonly [name: string, what: string]> = [
  ["slow", "a tool that takes at least half a second: for cancellation, and what a slow call holds up"],
  ["progress", "a tool that reports progress"],
  ["ask", "a tool that asks the user"],
  ["log", "a tool that sends log messages"],
  ["change", "a tool that changes a list"],
  ["crash", "a tool that ends the process"],
];

const NAMED: OptionSpecs = Object.fromEntries(TOOLS.flatMap(([name, what]) => [
  [name, { kind: "value", placeholder: "TOOL", help: what }] as const,
  [`${name}-args`, { kind: "value", placeholder: "JSON", help: "its arguments" }] as const,
]));

/** The command. */
export const DOCTOR: Command = {
  name: "doctor",
  summary: "starts a server, and says rule by rule whether it keeps the rules of stdio",
  usage: "",
  notes: [
    [
      "It starts the server some dozens of times and talks to it by raw bytes. What the specification asks for gives a",
      "failure, what it advises a warning, what real servers break on a note. No tool is called but one that says of",
      "itself that it is read-only and closed-world, or that you name. The exit code is 1 if a MUST is broken.",
    ].join("\n"),
  ],
  examples: [
    { line: "doctor -- node dist/server.js", what: "everything that can be seen without naming a tool" },
    { line: "doctor --quick -- node dist/server.js", what: "four starts, for a hook before each commit" },
    {
      line: `doctor --slow sleep --slow-args '{"ms":1000}' --junit doctor.xml -- node dist/server.js`,
      what: "in CI, with a slow tool",
    },
    { line: "doctor --explain OUT-01 -- node dist/server.js", what: "one check, with its bytes" },
    { line: "doctor --list", what: "all checks" },
  ],
  server: "one",
  options: {
    only: {
      kind: "values",
      placeholder: "ID|GROUP,…",
      help: "these checks alone, such as OUT-01, end, REQ-*",
    },
    skip: { kind: "values", placeholder: "ID|GROUP,…", help: "all but these" },
    era: { kind: "value", placeholder: "ERA", help: "modern, legacy, or a version such as 2025-06-18" },
    quick: { kind: "flag", help: "the checks that need few starts" },
    deep: { kind: "flag", help: "also those that take long" },
    once: { kind: "flag", help: "one process for each era, for servers that take a port, a lock or a login" },
    "max-starts": {
      kind: "value",
      placeholder: "N",
      help: "so many starts at most; 80 without it, 110 with --deep",
    },
    patience: { kind: "value", placeholder: "N", help: "multiplies every bound of time, such as 4 or 0.5" },
    strict: {
      kind: "flag",
      choices: ["should", "advice"],
      help: "warnings fail, too; with =advice notes as well",
    },
    baseline: { kind: "value", placeholder: "FILE", help: "a former --json: only what is new fails" },
    tool: {
      kind: "value",
      placeholder: "TOOL",
      help: 'the tool that is called; "@text" in its arguments is a text that is hard to frame',
    },
    args: { kind: "value", placeholder: "JSON", help: "its arguments" },
    ...NAMED,
    "read-only-tools": {
      kind: "flag",
      help: "tools that say they are read-only may be called, open world or not",
    },
    "all-tools": { kind: "flag", help: "any tool may be called" },
    "no-tools": { kind: "flag", help: "no tool is called unless it is named" },
    "no-prompts": { kind: "flag", help: "no prompt is got" },
    "no-resources": { kind: "flag", help: "no resource is read" },
    "show-content": { kind: "flag", help: "show what tools return" },
    lean: { kind: "flag", help: "also start it in an empty folder with a lean environment" },
    "no-confirm": { kind: "flag", help: "do not ask a second time" },
    verbose: { kind: "flag", help: "tell what is kept, too" },
    explain: { kind: "value", placeholder: "ID", help: "one check, with the bytes that were sent and came" },
    list: { kind: "flag", help: "list all checks" },
    junit: { kind: "value", placeholder: "FILE", help: "write a JUnit report" },
    json: {
      kind: "flag",
      choices: ["lines"],
      help: "results as JSON; with =lines a line for each check as it is done",
    },
  },
  words: [0, 0],
  run: async (invocation, io) => (await import("../doctor/run_doctor.ts")).runDoctor(invocation, io),
};
