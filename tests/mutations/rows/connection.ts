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
  {
    id: "TRACE-1",
    file: "internal/framing/write_buffer.ts",
    find: "    this.#onBegin?.();",
    replace: "",
    tests: ["frame_trace_test.ts"],
    breaks: "what leaves is not told",
  },
  {
    id: "TRACE-2",
    file: "internal/framing/frame_trace.ts",
    find: "    const { kind, facts } = describeSafely(message);",
    replace: "    const { kind, facts } = describe(message);",
    tests: ["frame_trace_test.ts"],
    breaks: "a getter that throws comes through send()",
  },
];
