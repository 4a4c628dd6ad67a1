/** Which file a command means on Windows. */

import { joinPath } from "./paths.ts";

/** A file that a command means. */
export interface Executable {
  /** The path of the file. */
  readonly path: string;
  /** Whether the system starts it, or `cmd.exe` has to. */
  readonly kind: "program" | "batch";
}

/** Where to look for a command. */
export interface ExecutableSearch {
  readonly command: string;
  /** `PATH` of the child, or undefined when it has none. */
  readonly path: string | undefined;
  /** `PATHEXT` of the child, or undefined when it has none. */
  readonly pathExt: string | undefined;
  /** The child's working directory, as an absolute path. */
  readonly cwd: string;
  /** Undefined where that may not be known. */
  isFile(path: string): Promise<boolean | undefined>;
}

/** What `CreateProcess` and `cmd.exe` can start. Scripts for other hosts, such as `.ps1`, are not among them. */
const STARTABLE_EXTENSIONS = [".COM", ".EXE", ".BAT", ".CMD"];

/**
 * Finds the file that a command means, as a shell would: a name in the folders of `PATH`, a path from the working
 * directory; a name without a startable extension is tried with each one of `PATHEXT`. Other than in a shell, a mere
 * name is not looked for in the working directory: a program lying there must not stand in for `npx`.
 *
 * Gives undefined if there is no such file, and `unknown` if that may not be known.
 */
export async function findExecutable(search: ExecutableSearch): Promise<Executable | "unknown" | undefined> {
  const { command, cwd } = search;
  if (command === "") return undefined;
  const isPath = /[\\/:]/.test(command);
  const folders = isPath ? [cwd] : listFolders(search.path ?? "").map((folder) => joinPath(cwd, folder));
  const names = listCandidates(command, listExtensions(search.pathExt));
  let mayBeKnown = true;
  for (const folder of folders) {
    for (const name of names) {
      const path = joinPath(folder, name);
      const isFile = await search.isFile(path);
      if (isFile) return { path, kind: isBatchFile(path) ? "batch" : "program" };
      if (isFile === undefined) mayBeKnown = false;
    }
  }
  return mayBeKnown ? undefined : "unknown";
}

/** Whether Windows takes a path for a batch file. It ignores spaces and dots at the end of a name (CVE-2024-43402). */
export function isBatchFile(path: string): boolean {
  return /\.(?:bat|cmd)[ .]*$/i.test(path);
}

function listFolders(path: string): string[] {
  // A folder with a semicolon in its name stands in quotes; quotes are no part of a name.
  const folders = path.match(/(?:"[^"]*"?|[^;"])+/g) ?? [];
  return folders.map((folder) => folder.replaceAll('"', "").trim()).filter((folder) => folder !== "");
}

function listExtensions(pathExt: string | undefined): string[] {
  const listed = (pathExt ?? "").toUpperCase().split(";").map((extension) => extension.trim());
  const startable = listed.filter((extension) => STARTABLE_EXTENSIONS.includes(extension));
  return startable.length > 0 ? startable : STARTABLE_EXTENSIONS;
}

function listCandidates(command: string, extensions: readonly string[]): string[] {
  const extended = extensions.map((extension) => command + extension.toLowerCase());
  const own = /\.[^.\\/]*$/.exec(command)?.[0].toUpperCase();
  if (own === undefined) return extended;
  // A file without an extension is never right: beside `npx.cmd` lies `npx`, a script for another shell.
  return STARTABLE_EXTENSIONS.includes(own.trimEnd()) ? [command, ...extended] : [...extended, command];
}
