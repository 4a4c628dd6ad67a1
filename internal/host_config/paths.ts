/** Paths as the host's system writes them. Nothing is looked up and ".." is kept, since a link may stand before it. */

/** The system whose paths are meant. */
export type PathSystem = "posix" | "windows";

/** Whether a path needs no folder to start from. */
export function isAbsolutePath(os: PathSystem, path: string): boolean {
  return os === "windows" ? /^(?:[a-z]:|[\\/])/i.test(path) : path.startsWith("/");
}

/** A path seen from a folder. */
export function resolvePath(os: PathSystem, folder: string, path: string): string {
  if (isAbsolutePath(os, path)) return path;
  const rest = path.replace(os === "windows" ? /^(?:\.[\\/]+)+/ : /^(?:\.\/+)+/, "");
  if (rest === "" || rest === ".") return folder;
  const isJoined = os === "windows" ? /[\\/]$/.test(folder) : folder.endsWith("/");
  return isJoined ? folder + rest : folder + getSeparator(os) + rest;
}

/** The folder a path stands in; "." for a mere name. */
export function getFolder(os: PathSystem, path: string): string {
  const at = findLastSeparator(os, path);
  if (at < 0) return ".";
  const folder = path.slice(0, at);
  return folder === "" || (os === "windows" && /^[a-z]:$/i.test(folder)) ? path.slice(0, at + 1) : folder;
}

/** The last name of a path. */
export function getBaseName(os: PathSystem, path: string): string {
  return path.slice(findLastSeparator(os, path) + 1);
}

/** What stands between two names of a path. */
export function getSeparator(os: PathSystem): string {
  return os === "windows" ? "\\" : "/";
}

function findLastSeparator(os: PathSystem, path: string): number {
  return os === "windows" ? Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) : path.lastIndexOf("/");
}
