/**
 * Takes the protocol channel away from descriptors 0 and 1 on Bun, by calls of the C library. That takes 1.3 ms, most of
 * it for loading `bun:ffi`; to load `node:fs` would take three times as long.
 */

import { bunProcess, isMade } from "./namespace.ts";

/** Where the channel is now; undefined where it has stayed. */
export interface OwnDescriptors {
  readonly stdin?: number | undefined;
  readonly stdout?: number | undefined;
}

/** What is used of the C library. */
interface LibC {
  dup(descriptor: number): number;
  dup2(from: number, to: number): number;
  // This and `open` are variadic: where such arguments are passed in another way, as on Apple's processors, none may be
  // given.
  ioctl(descriptor: number, request: number): number;
  /** Where the next byte is read; -1 for what has no places. */
  lseek(descriptor: number, offset: number, whence: number): number;
  isatty(descriptor: number): number;
  open(path: Uint8Array, flags: number): number;
  close(descriptor: number): number;
}

const SIGNATURES = {
  dup: { args: ["i32"], returns: "i32" },
  dup2: { args: ["i32", "i32"], returns: "i32" },
  ioctl: { args: ["i32", "u64"], returns: "i32" },
  lseek: { args: ["i32", "i64", "i32"], returns: "i32" },
  isatty: { args: ["i32"], returns: "i32" },
  open: { args: ["ptr", "i32"], returns: "i32" },
  close: { args: ["i32"], returns: "i32" },
} as const;

/** The names of the library, and `FIOCLEX`, the request that keeps a descriptor from programs that are started. */
const SYSTEMS: Record<string, { readonly names: readonly string[]; readonly closeOnExec: number }> = {
  linux: {
    names: ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"],
    closeOnExec: 0x5451,
  },
  darwin: { names: ["/usr/lib/libSystem.B.dylib"], closeOnExec: 0x2000_6601 },
};

const NULL_DEVICE = new TextEncoder().encode("/dev/null\0");
const READ_ONLY = 0;
const SEEK_CURRENT = 1;

/**
 * Duplicates stdout and stdin for this process alone, and then makes descriptor 1 the one of stderr, descriptor 0 the null
 * device. What the system does not let happen does not, and nothing is lost.
 */
export function takeDescriptors(): OwnDescriptors {
  const system = SYSTEMS[bunProcess().platform];
  if (system === undefined || startsAnew()) return {};
  const libc = load(system.names);
  if (libc === undefined) return {};
  return {
    stdout: replace(libc, 1, 2, system.closeOnExec),
    // A stream that exists may be in use.
    stdin: isMade(bunProcess(), "stdin") || !isChannel(libc, 0)
      ? undefined
      : takeStdin(libc, system.closeOnExec),
  };
}

/** Whether a descriptor is a pipe or a socket. Bun reads files and terminals in other ways, the latter by its number. */
function isChannel(libc: LibC, descriptor: number): boolean {
  return libc.lseek(descriptor, 0, SEEK_CURRENT) === -1 && libc.isatty(descriptor) === 0;
}

/** Whether Bun runs the program again in this process when a file changes: it looks for the channel where it was. */
function startsAnew(): boolean {
  return bunProcess().execArgv.some((argument) => argument === "--watch" || argument === "--hot");
}

function takeStdin(libc: LibC, closeOnExec: number): number | undefined {
  const nothing = libc.open(NULL_DEVICE, READ_ONLY);
  const own = replace(libc, 0, nothing, closeOnExec);
  libc.close(nothing);
  return own;
}

/** Makes a descriptor mean what another does, and returns a new one for what it has meant; undefined if it cannot. */
function replace(libc: LibC, descriptor: number, other: number, closeOnExec: number): number | undefined {
  const own = libc.dup(descriptor);
  if (own === -1) return undefined;
  libc.ioctl(own, closeOnExec);
  if (libc.dup2(other, descriptor) !== -1) return own;
  libc.close(own);
  return undefined;
}

/** The library under the first name that there is; undefined without `bun:ffi`, as without the library. */
function load(names: readonly string[]): LibC | undefined {
  for (const name of names) {
    try {
      const { dlopen } = bunProcess().getBuiltinModule("bun:ffi") as {
        dlopen(name: string, signatures: typeof SIGNATURES): { readonly symbols: LibC };
      };
      return dlopen(name, SIGNATURES).symbols;
    } catch {
      continue;
    }
  }
  return undefined;
}
