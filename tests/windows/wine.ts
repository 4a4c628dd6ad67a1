// Wine, which runs Windows programs here: one that is installed, one of the system's packages, or one of a Debian of its own.
import { spawnSync } from "node:child_process";
import { lstatSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** Deno and Bun need what came with this version, and so does `taskkill /T`. */
const LEAST_VERSION = 10;
const DEBIAN = "trixie";

/** Wine that can be run. */
export interface Wine {
  readonly version: string;
  /** The command line that runs a Windows program, and the environment for it. */
  command(program: readonly string[]): string[];
  /** The command line that tells Wine's own server something. */
  server(option: string): string[];
  readonly env: Record<string, string | undefined>;
}

/** Says what is done, since some of it takes minutes. */
export type Say = (text: string) => void;

/**
 * Finds Wine, or gets it; `folders` are seen by the programs that it runs. Gives the reason if it cannot be had.
 *
 * What is not in the system's packages is unpacked below `cache`; the system itself is left alone, but for its packages.
 */
export function findWine(cache: string, folders: readonly string[], say: Say): Wine | string {
  if (process.platform !== "linux") return `Wine is set up on Linux only, and this is ${process.platform}`;
  if (process.arch !== "x64") return `the Windows builds are for x64, and this is ${process.arch}`;
  const own = process.env["WINE"] ?? "wine";
  const env = wineEnvironment(cache);
  const installed = versionOf([own]);
  if (isGoodEnough(installed)) return directWine(own, installed!, env);
  const why = installed === undefined ? "there is no wine here" : `this is ${installed}`;
  if (process.getuid?.() !== 0) return `${why}; Wine ${LEAST_VERSION} is needed, and only root can get it`;
  try {
    const hasOwn = isThere(join(cache, "debian/usr/bin/wine"));
    const packaged = hasOwn ? 0 : candidate(say);
    if (packaged >= LEAST_VERSION) {
      say(`${why}: Wine ${packaged} is installed from the system's packages`);
      run("apt-get", ["install", "-y", "--no-install-recommends", "wine", "wine64"]);
      const version = versionOf(["wine"]);
      if (version !== undefined) return directWine("wine", version, env);
    }
    return wineOfItsOwn(cache, folders, why, say);
  } catch (error) {
    return `${why}, and Wine ${LEAST_VERSION} cannot be had: ${(error as Error).message}`;
  }
}

function directWine(path: string, version: string, env: Wine["env"]): Wine {
  return {
    version,
    env,
    command: (program) => [path, ...program],
    server: (option) => [path.replace(/wine[^/]*$/, "wineserver"), option],
  };
}

/** A Debian in a folder. What it has to see is mounted for the program alone, and gone when that ends. */
function wineOfItsOwn(cache: string, folders: readonly string[], why: string, say: Say): Wine {
  const root = join(cache, "debian");
  const seen = [cache, ...folders];
  const mounts = [
    `mount -t proc proc "$ROOT/proc"`,
    `mount --bind /dev "$ROOT/dev"`,
    // Each folder is mounted where it is, so that a path means the same inside.
    ...seen.map((folder) => `mkdir -p '${root}${folder}' && mount --bind '${folder}' '${root}${folder}'`),
  ];
  const inside = (program: readonly string[], mounted: readonly string[]): string[] => {
    const enter = `exec chroot "$ROOT" /usr/bin/env --chdir="$PWD" "$@"`;
    return [
      "unshare",
      "--mount",
      "sh",
      "-c",
      `ROOT='${root}'; ${[...mounted, enter].join(" && ")}`,
      "sh",
      ...program,
    ];
  };
  if (!isThere(join(root, "usr/bin/wine"))) {
    say(`${why}: Wine of Debian ${DEBIAN} is put into ${root}, which takes minutes and 1.4 GB`);
    mkdirSync(root, { recursive: true });
    if (!isThere(join(root, "usr/bin/apt-get"))) {
      run("apt-get", ["install", "-y", "--no-install-recommends", "debootstrap"]);
      run("debootstrap", ["--variant=minbase", "--include=ca-certificates", DEBIAN, root]);
    }
    const install = "cd / && apt-get update && apt-get install -y --no-install-recommends wine64 wine";
    run(...split(inside(["sh", "-c", install], mounts.slice(0, 2))), { cwd: "/" });
  }
  const wine: Wine = {
    version: "",
    env: { ...wineEnvironment(cache), PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    command: (program) => inside(["wine", ...program], mounts),
    server: (option) => inside(["wineserver", option], mounts),
  };
  const version = versionOf(inside(["wine"], mounts));
  if (!isGoodEnough(version)) throw new Error(`what was installed is ${version ?? "no Wine"}`);
  return { ...wine, version: version! };
}

function wineEnvironment(cache: string): Record<string, string | undefined> {
  const quiet = { WINEDEBUG: "-all", DISPLAY: undefined, XDG_RUNTIME_DIR: undefined };
  return { ...process.env, ...quiet, WINEPREFIX: join(cache, "prefix"), HOME: cache };
}

/** Runs a command to its end; its output goes to a file of the cache, or nowhere. */
export function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string | undefined>; log?: string } = {},
): void {
  const { log, ...others } = options;
  // The first Windows program of a tree cannot write to a pipe of Linux.
  const output = log === undefined ? "ignore" as const : openSync(log, "a");
  const { status, error } = spawnSync(command, args, { ...others, stdio: ["ignore", output, output] });
  if (error !== undefined) throw error;
  if (status !== 0) {
    throw new Error(`\`${[command, ...args].slice(0, 4).join(" ")}\` ended with code ${status}`);
  }
}

/** Whether there is anything, also a link that leads somewhere else from here. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function split([command = "", ...args]: readonly string[]): [string, string[]] {
  return [command, args];
}

function versionOf(wine: readonly string[]): string | undefined {
  const [command, args] = split([...wine, "--version"]);
  const { status, stdout } = spawnSync(command, args, { encoding: "utf8" });
  return status === 0 ? /^wine-\S+/.exec(stdout)?.[0] : undefined;
}

function isGoodEnough(version: string | undefined): boolean {
  return Number(/^wine-(\d+)/.exec(version ?? "")?.[1] ?? 0) >= LEAST_VERSION;
}

/** The Wine of the system's packages. */
function candidate(say: Say): number {
  say("looking for Wine in the system's packages");
  run("apt-get", ["update"]);
  const { stdout } = spawnSync("apt-cache", ["policy", "wine"], { encoding: "utf8" });
  return Number(/Candidate: (\d+)/.exec(stdout)?.[1] ?? 0);
}
