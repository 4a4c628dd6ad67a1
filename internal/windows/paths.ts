/** Paths of Windows, on any system. */

/** A path as seen from a folder: one that begins with a drive or a network name stays as it is. */
export function joinPath(folder: string, path: string): string {
  if (/^(?:[a-z]:|[\\/]{2})/i.test(path)) return path;
  const isRooted = /^[\\/]/.test(path);
  const base = isRooted ? /^[a-z]:/i.exec(folder)?.[0] ?? "" : folder.replace(/[\\/]+$/, "");
  return isRooted ? base + path : `${base}\\${path}`;
}
