/** Whether a module is the program that was started. Node says it from version 24 on, and is asked by paths before. */
export async function isMainModule(meta: ImportMeta): Promise<boolean> {
  if (typeof meta.main === "boolean") return meta.main;
  const program = globalThis.process.argv[1];
  if (program === undefined || !meta.url.startsWith("file:")) return false;
  const { realpathSync } = await import("node:fs");
  const { fileURLToPath } = await import("node:url");
  try {
    // npm starts a program by a link to it.
    return realpathSync(program) === realpathSync(fileURLToPath(meta.url));
  } catch {
    return false; // What was started is no file, as with `node -e`.
  }
}
