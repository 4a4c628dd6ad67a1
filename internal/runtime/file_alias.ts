/** Where a file cannot be looked at, though it is there. */

interface Stats {
  isFile(): boolean;
  isSymbolicLink?(): boolean;
}

/**
 * Whether a path names a file. On Windows some commands, such as `python` and `winget`, are aliases: links that start a program
 * and that nobody can look behind, which is told as another error than that there is nothing.
 */
export async function isFileOrAlias(
  os: "posix" | "windows",
  stat: () => Promise<Stats>,
  lstat: () => Promise<Stats>,
): Promise<boolean> {
  try {
    return (await stat()).isFile();
  } catch (error) {
    const { code, name } = Object(error) as { code?: unknown; name?: unknown };
    const isMissing = code === "ENOENT" || code === "ENOTDIR" || name === "NotFound";
    if (os === "posix" || isMissing) return false;
  }
  return await lstat().then((stats) => stats.isSymbolicLink?.() === true || stats.isFile(), () => false);
}
