import type { Mutation } from "../mutation.ts";

export const ROWS: readonly Mutation[] = [
  {
    id: "S1-15-1",
    file: "internal/stream_connection.ts",
    find: "    if (bytes.length <= this.#readBufferBytes) {",
    replace: "    if (bytes.length <= 1e9) {",
    tests: ["stream_connection_test.ts"],
    breaks: "limits.readBufferBytes does nothing",
  },
  {
    id: "S1-15-2",
    file: "internal/stream_connection.ts",
    find: "    this.#inputCancelled = true;\n    this.#unread = undefined;",
    replace: "    this.#inputCancelled = true;",
    tests: ["stream_connection_test.ts"],
    breaks: "messages come after the input was cancelled",
  },
];
