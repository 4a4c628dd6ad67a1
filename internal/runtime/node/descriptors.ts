/**
 * Takes the protocol channel away from descriptor 1 on Node, which can neither duplicate a descriptor nor choose its number. But
 * Linux opens the pipe behind a descriptor a second time, and what is opened gets the lowest free number. A socket
 * cannot be opened so, and sockets are what a client on Node or Bun starts its servers with. Stdin stays where it is:
 * `process.stdin` reads it, and others may already have that stream.
 */

import type { Socket } from "node:net";
import { nodeProcess } from "./process.ts";

type FileSystem = typeof import("node:fs");

/** Where descriptor 1 is to lead. */
interface Target {
  readonly path: string;
  readonly flags: number;
}

/**
 * Opens stdout's pipe for this process alone, then makes descriptor 1 lead to stderr. Returns the stream for the pipe;
 * undefined if that cannot be done, and then nothing has changed.
 */
export function takeStdout(): Socket | undefined {
  const process = nodeProcess();
  // Missing before Node 20.16.
  const fs = process.getBuiltinModule?.("node:fs");
  const net = process.getBuiltinModule?.("node:net");
  if (process.platform !== "linux" || fs === undefined || net === undefined) return undefined;
  // What waits in the stream would come out on stderr. A worker's stream has no descriptor.
  if (process.stdout.fd !== 1 || process.stdout.writableLength > 0 || isOpening()) return undefined;
  try {
    const target = stderrAgain(fs);
    if (target === undefined || !isPipe(fs, 1)) return undefined;
    const fd = fs.openSync(pathOf(1), fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
    const channel = new net.Socket({ fd, readable: false, writable: true });
    try {
      lead(fs, 1, target);
    } catch (error) {
      channel.destroy();
      throw error;
    }
    return channel;
  } catch {
    // There is no /proc, or it may not be used, or nobody reads the pipe.
    return undefined;
  }
}

/**
 * Whether another thread may be opening something for this one: it could get the number 1 in the moment in which that is
 * free, and somebody's file would then be what native code prints to.
 */
function isOpening(): boolean {
  return nodeProcess().getActiveResourcesInfo().some((what) => /^FSReq|^GetAddrInfo/.test(what));
}

/** Lets a descriptor lead elsewhere. */
function lead(fs: FileSystem, descriptor: number, { path, flags }: Target): void {
  // Opened twice: the first shows that it can be, before anything is closed, and keeps a free number below from the second.
  const shown = fs.openSync(path, flags);
  fs.closeSync(descriptor);
  fs.openSync(path, flags);
  fs.closeSync(shown);
}

/** Where stderr leads. A file that is not appended to would be written over from another place. */
function stderrAgain(fs: FileSystem): Target | undefined {
  const { O_WRONLY, O_NOCTTY, O_APPEND } = fs.constants;
  const stats = fs.fstatSync(2, { bigint: true });
  const flags = Number.parseInt(
    /^flags:\s*(\d+)$/m.exec(fs.readFileSync("/proc/self/fdinfo/2", "utf8"))?.[1] ?? "0",
    8,
  );
  if (!isPipe(fs, 2) && !stats.isCharacterDevice() && !(stats.isFile() && (flags & O_APPEND) !== 0)) {
    return undefined;
  }
  return { path: pathOf(2), flags: O_WRONLY | O_NOCTTY | (flags & O_APPEND) };
}

/** Whether there is a pipe behind a descriptor. One with a name is none: to open it can wait for its other end. */
function isPipe(fs: FileSystem, descriptor: number): boolean {
  return fs.readlinkSync(pathOf(descriptor)).startsWith("pipe:");
}

function pathOf(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}
