/**
 * The C library, by `bun:ffi`: to load that takes 1.3 ms, and to load `node:fs` three times as long.
 */

import { bunProcess } from "./namespace.ts";

/** What is used of it. */
export interface LibC {
  dup(descriptor: number): number;
  dup2(from: number, to: number): number;
  /** Keeps a descriptor from programs that are started. */
  closeOnExec(descriptor: number): void;
  /** Where the next byte is read; -1 for what has no places. */
  lseek(descriptor: number, offset: number, whence: number): number;
  isatty(descriptor: number): number;
  open(path: Uint8Array, flags: number): number;
  close(descriptor: number): number;
  /** Looks at one descriptor: the events of `poll`, of those that are asked for and of errors. */
  poll(descriptor: number, events: number): number;
  write(descriptor: number, bytes: Uint8Array): number;
  /** So many bytes are taken without waiting where `poll` says that some are. */
  readonly atomicBytes: number;
}

// `ioctl` and `open` are variadic: where such arguments are passed in another way, as on Apple's processors, none may be given.
const SIGNATURES = {
  dup: { args: ["i32"], returns: "i32" },
  dup2: { args: ["i32", "i32"], returns: "i32" },
  ioctl: { args: ["i32", "u64"], returns: "i32" },
  lseek: { args: ["i32", "i64", "i32"], returns: "i32" },
  isatty: { args: ["i32"], returns: "i32" },
  open: { args: ["ptr", "i32"], returns: "i32" },
  close: { args: ["i32"], returns: "i32" },
  poll: { args: ["ptr", "u64", "i32"], returns: "i32" },
  write: { args: ["i32", "ptr", "u64"], returns: "i64_fast" },
} as const;

type Symbols = Record<keyof typeof SIGNATURES, (...args: unknown[]) => number>;

interface System {
  readonly names: readonly string[];
  /** `FIOCLEX`. */
  readonly closeOnExec: number;
  /** `PIPE_BUF`. */
  readonly atomicBytes: number;
}

const SYSTEMS: Record<string, System> = {
  linux: {
    names: ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"],
    closeOnExec: 0x5451,
    atomicBytes: 4_096,
  },
  darwin: { names: ["/usr/lib/libSystem.B.dylib"], closeOnExec: 0x2000_6601, atomicBytes: 512 },
};

let opened: LibC | undefined;

/** The library; undefined where there is none that is known, or no `bun:ffi`. */
export function openLibC(): LibC | undefined {
  if (opened !== undefined) return opened;
  const system = SYSTEMS[bunProcess().platform];
  const symbols = system && load(system.names);
  return opened = symbols && toLibC(symbols, system);
}

function toLibC(symbols: Symbols, { closeOnExec, atomicBytes }: System): LibC {
  const { ioctl, poll, write, ...others } = symbols;
  return {
    ...others,
    closeOnExec: (descriptor) => void ioctl(descriptor, closeOnExec),
    poll(descriptor, events) {
      // struct pollfd { int fd; short events; short revents; }
      const entry = new DataView(new ArrayBuffer(8));
      entry.setInt32(0, descriptor, true);
      entry.setInt16(4, events, true);
      return poll(entry, 1, 0) > 0 ? entry.getInt16(6, true) : 0;
    },
    write: (descriptor, bytes) => write(descriptor, bytes, bytes.length),
    atomicBytes,
  };
}

/** The library under the first name that there is. */
function load(names: readonly string[]): Symbols | undefined {
  for (const name of names) {
    try {
      const { dlopen } = bunProcess().getBuiltinModule("bun:ffi") as {
        dlopen(name: string, signatures: typeof SIGNATURES): { readonly symbols: Symbols };
      };
      return dlopen(name, SIGNATURES).symbols;
    } catch {
      continue;
    }
  }
  return undefined;
}
