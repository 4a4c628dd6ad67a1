import type { Mutation } from "../mutation.ts";

export const ROWS: readonly Mutation[] = [
  {
    id: "P3",
    file: "internal/process/process_link.ts",
    find: "process.reapedWithin(terminateGraceMs)",
    replace: "process.reapedWithin(shutdownGraceMs)",
    tests: ["process_link_test.ts"],
    breaks: "the option terminateGraceMs does nothing",
  },
  {
    id: "P4",
    file: "internal/process/process_link.ts",
    find: "    stderr?.cancel();\n",
    replace: "",
    tests: ["process_link_test.ts"],
    breaks: "a stranger that inherited a server's stderr keeps the host alive after close()",
  },
  {
    id: "P5",
    file: "internal/process/stderr_drain.ts",
    find: "    if (this.#tail.length > 2 * TAIL_LENGTH) this.#tail = this.tail;\n",
    replace: "",
    tests: ["process_stderr_test.ts"],
    breaks: "a host grows with all that its servers ever wrote to stderr",
  },
];
