import type { Mutation } from "../mutation.ts";

export const ROWS: readonly Mutation[] = [
  {
    id: "DOCS-1",
    file: "errors.ts",
    find: `  | "missing_variable";`,
    replace: `  | "missing_variable"
  | "too_old";`,
    tests: ["docs_messages_test.ts"],
    breaks: "an error that the docs do not know",
  },
  {
    id: "DOCS-2",
    file: "internal/client/supervisor.ts",
    find: "[mcp_stdio] the server has ended and is started again",
    replace: "[mcp_stdio] a new server is started",
    tests: ["docs_messages_test.ts"],
    breaks: "a warning whose words are not in the docs",
  },
  {
    id: "DOCS-3",
    file: "internal/client/answer_flow.ts",
    find: "export const MAX_QUESTIONS = 256;",
    replace: "export const MAX_QUESTIONS = 217;",
    tests: ["docs_bounds_test.ts"],
    breaks: "a bound that is not the one in the docs",
  },
  {
    id: "DOCS-4",
    file: "internal/server/tools.ts",
    find: "return errorResult(`Invalid arguments: ",
    replace: "return errorResult(`Wrong arguments: ",
    tests: ["docs_test.ts", "docs_messages_test.ts"],
    breaks: "an output that is not the one that the docs show",
  },
  {
    id: "DOCS-5",
    file: "docs/calls.md",
    find: '```ts ignore source="../examples/guides/calls.ts#cancel"',
    replace: "```ts ignore",
    tests: ["docs_test.ts"],
    breaks: "a block of code that nothing runs",
  },
  {
    id: "DOCS-6",
    file: "examples/first_client.ts",
    find: 'await client.callTool("get-forecast", { city: "Oslo" }, { timeoutMs: 5_000 });',
    replace: 'await client.callTool("get-forecast", { city: "Oslo" }, { timeoutMs: 6_000 });',
    tests: ["docs_test.ts"],
    breaks: "a page that shows another program than the one that runs",
  },
  {
    id: "DOCS-7",
    file: "docs/troubleshooting.md",
    find: "`ProcessError`, `cwd_not_found`.",
    replace: "`ProcessError`.",
    tests: ["docs_messages_test.ts"],
    breaks: "an error without an entry",
  },
  {
    id: "DOCS-8",
    file: "docs/guarantees.md",
    find: "| 16 at once, 256 wait ",
    replace: "| 16 at once, a few wait ",
    tests: ["docs_bounds_test.ts"],
    breaks: "a bound that no page has",
  },
];
