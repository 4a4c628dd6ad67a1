import type { Mutation } from "../mutation.ts";

export const ROWS: readonly Mutation[] = [{
  id: "XF4-1",
  file: "internal/telling_lines.ts",
  find: "found < 0 ? lines.slice(-MAX_LINES) : lines.slice(found, found + MAX_LINES)",
  replace: "lines.slice(-MAX_LINES)",
  tests: ["telling_lines_test.ts"],
  breaks: "an error shows what came behind the line that tells",
}, {
  id: "XF4-2",
  file: "internal/telling_lines.ts",
  find: "    else if (/^\\s*at .+\\{$/.test(line)) isInProperties = true;\n",
  replace: "",
  tests: ["telling_lines_test.ts"],
  breaks: "an error of Node shows its properties",
}, {
  id: "XF4-3",
  file: "internal/telling_lines.ts",
  find: "spellUnseen(line.trim())",
  replace: "line.trim()",
  tests: ["telling_lines_test.ts"],
  breaks: "a server rings the bell of its host",
}];
