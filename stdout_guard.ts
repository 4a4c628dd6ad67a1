/**
 * A module to import first in a server that is one program: from then on, what code in this process writes to stdout by
 * `console` or the runtime's own means goes to stderr. `serve` does the same, but only from its call on, and an import may
 * print before.
 *
 * It exports nothing and lasts as long as the process. What native code, `fs.writeSync(1)` or a process that inherits
 * descriptor 1 write is caught by `serve` only, and not everywhere: see
 * [the table](https://github.com/mcp/stdio/blob/main/docs/stdout.md#what-the-guard-covers).
 *
 * @example The first import of a server
 * ```ts ignore
 * import "@mcp/stdio/stdout-guard";
 * import { serve } from "@mcp/stdio/server";
 * import { lookUp } from "a-package-that-prints-a-banner";
 *
 * await serve({
 *   info: { name: "words", version: "1.0.0" },
 *   tools: { look: { call: ({ word }) => lookUp(String(word)) } },
 * });
 * ```
 *
 * @module
 */

import { guardStdoutNow } from "./internal/runtime/guard_now.ts";

guardStdoutNow();
