/** Files by `node:fs`, for Node and Bun; it is loaded when one is read. */

import type { FileAccess } from "../files.ts";

/** Gets at files. */
export const NODE_FILES: FileAccess = {
  async isRegular(path) {
    const { stat } = await import("node:fs/promises");
    return (await stat(path)).isFile();
  },
  async open(path) {
    const { open } = await import("node:fs/promises");
    const handle = await open(path);
    return {
      read: async (buffer) => (await handle.read(buffer, 0, buffer.length)).bytesRead,
      close: () => handle.close(),
    };
  },
};
