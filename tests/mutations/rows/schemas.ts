import type { Mutation } from "../mutation.ts";

export const ROWS: readonly Mutation[] = [
  {
    id: "V23",
    file: "internal/json_schema/schema_checker.ts",
    find: 'if ($schema === undefined) return "2020-12";',
    replace: 'if ($schema === undefined) return "7";',
    tests: ["one_file_tools_test.ts"],
    breaks: "the siblings of `$ref` in a schema without `$schema` are ignored",
  },
];
