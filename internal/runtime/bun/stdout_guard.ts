/** Keeps code in this process from writing to stdout by Bun's own means. */

import { divert, Shared } from "../divert.ts";
import { writeLikeStream, writtenBytes } from "../node_api/written_data.ts";
import { divertConsole } from "./console.ts";
import { Bun, type BunFile, bunProcess, type FileSink, isMade } from "./namespace.ts";
import { writeToStderr } from "./stderr.ts";

type Undo = () => void;

/** The guard of this process. */
export const stdoutGuard: Shared = new Shared(divertStdout);

/**
 * Sends to stderr what `console`, `process.stdout` and Bun's files for descriptor 1 are given. What is given to those of stderr
 * goes the same way, so that it stays in order.
 */
function divertStdout(): Undo {
  const undo = [...divertConsole(), ...divertBunFiles(), ...divertProcessStreams()];
  return () => undo.forEach((each) => each());
}

function divertBunFiles(): Undo[] {
  const prototype = Object.getPrototypeOf(Bun.stdout) as BunFile;
  const { file, write } = Bun;
  let active = true;
  const guarded = new WeakSet<object>([Bun.stdout, Bun.stderr]);

  const writeFile = (own: unknown, args: unknown[]): unknown =>
    active && isData(args[0])
      ? Promise.resolve(writeData(args[0]))
      : Reflect.apply(prototype.write, active ? Bun.stderr : own, args);
  // A true one, so that it is good when the guard is gone.
  const openSink = (own: unknown, args: unknown[]): FileSink => {
    const sink: FileSink = Reflect.apply(prototype.writer, own, args);
    const writeSink = sink.write;
    return define(sink, "write", (data) => active ? writeData(data) : Reflect.apply(writeSink, sink, [data]));
  };

  return [
    () => active = false,
    ...[Bun.stdout, Bun.stderr].flatMap((own) => [
      divert(own, "write", (...args) => writeFile(own, args)),
      divert(own, "writer", (...args) => openSink(own, args)),
    ]),
    divert(Bun, "file", (...args) => {
      const made: BunFile = Reflect.apply(file, Bun, args);
      if (args[0] !== 1 && args[0] !== 2) return made;
      guarded.add(made);
      define(made, "write", (...args) => writeFile(made, args));
      return define(made, "writer", (...args) => openSink(made, args));
    }),
    divert(Bun, "write", (target, ...rest) => {
      const isGuarded = target === 1 || target === 2 || guarded.has(Object(target));
      if (isGuarded && isData(rest[0])) return Promise.resolve(writeData(rest[0]));
      return Reflect.apply(write, Bun, [isGuarded ? Bun.stderr : target, ...rest]);
    }),
  ];
}

/** Gives an object a method of its own; the one of its prototype cannot be assigned over. */
function define<T extends object>(target: T, name: string, method: (...args: unknown[]) => unknown): T {
  return Object.defineProperty(target, name, { value: method, configurable: true, writable: true });
}

/**
 * `process.stdout` takes 13 ms to make, most of a start, and is made at the first touch. It writes by
 * `Bun.file(1).writer()`, so that one made from now on is guarded by the above; one that exists is guarded here. So it is
 * with `process.stderr`.
 */
function divertProcessStreams(): Undo[] {
  const process = bunProcess();
  return (["stdout", "stderr"] as const).filter((name) => isMade(process, name)).map((name) =>
    divert(process[name], "write", (...args) => writeLikeStream(args, writeToStderr))
  );
}

function writeData(data: unknown): number {
  const bytes = writtenBytes(data);
  writeToStderr(bytes);
  return bytes.length;
}

/** Whether it can be written at once; a file or a response has to be read first. */
function isData(data: unknown): boolean {
  return typeof data === "string" || ArrayBuffer.isView(data) || data instanceof ArrayBuffer;
}
