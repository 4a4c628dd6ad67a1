/** Child processes on Node. */

import type { ChildProcessByStdio } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { ChildHandle, ExitStatus, Signal, SpawnCommand } from "../../../runtime.ts";
import { readableFrom, writableTo } from "../byte_streams.ts";
import { sinkOf, sourceOf } from "../node_api/streams.ts";
import { SignalTarget } from "../signal_target.ts";
import { checkCommand, type PathProbe, spawnFailure } from "../spawn_failure.ts";
import type { TreeEndMeans } from "../tree_end.ts";
import { nodeProcess } from "./process.ts";

/** Starts a process. */
export async function spawnOnNode(command: SpawnCommand, probe: PathProbe): Promise<ChildHandle> {
  checkCommand(command);
  const isWindows = probe.os === "windows";
  // Imported when it is needed: in a bundle this file is loaded on every runtime, and that would load Deno's Node layer.
  const processes = await import("node:child_process");
  try {
    const child = processes.spawn(command.command, [...command.args], {
      cwd: command.cwd,
      env: command.env,
      stdio: ["pipe", "pipe", command.stderr],
      detached: command.processGroup && !isWindows,
      windowsHide: true,
      windowsVerbatimArguments: command.verbatimArguments ?? false,
    }) as Child;
    // The listener for errors stays: a signal that could not be sent is emitted too.
    const started = new Promise((resolve, reject) => child.once("spawn", resolve).on("error", reject));
    // Some failures are thrown, others emitted, and the handle is made before that is known: see `sourceOf`. Without
    // descriptors left Node makes no pipes, and the emitted error is on its way.
    const handle = child.stdin as unknown
      ? new NodeChild(child, command.processGroup, isWindows, processes)
      : undefined;
    await started;
    return handle as NodeChild;
  } catch (error) {
    throw await spawnFailure(command, error, probe);
  }
}

type ChildProcesses = typeof import("node:child_process");
type Child = ChildProcessByStdio<Writable, Readable, Readable | null>;

class NodeChild extends SignalTarget implements ChildHandle {
  readonly pid: number;
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array> | null;
  readonly exited: Promise<ExitStatus | null>;
  readonly #child: Child;
  readonly #processes: ChildProcesses;

  constructor(child: Child, processGroup: boolean, isWindows: boolean, processes: ChildProcesses) {
    super(processGroup, isWindows);
    this.#child = child;
    this.#processes = processes;
    // Without an id the start has failed, and nobody gets to see this handle.
    this.pid = child.pid ?? 0;
    this.stdin = writableTo(sinkOf(child.stdin));
    this.stdout = readableFrom(sourceOf(child.stdout));
    this.stderr = child.stderr === null ? null : readableFrom(sourceOf(child.stderr));
    this.exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        resolve(signal !== null ? { signal } : code !== null ? { code } : null);
      });
    });
  }

  unref(): void {
    const { stdin, stdout, stderr } = this.#child;
    this.#child.unref();
    // The pipes hold the event loop by themselves. They are sockets, though not by their types.
    for (const pipe of [stdin, stdout, stderr] as (Partial<Socket> | null)[]) pipe?.unref?.();
  }

  protected override get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  protected override killChild(signal: Signal): boolean {
    return this.#child.kill(signal);
  }

  protected override kill(pid: number, signal: Signal | 0): void {
    nodeProcess().kill(pid, signal);
  }

  protected override systemPrograms(): Pick<TreeEndMeans, "systemRoot" | "run" | "runNow"> {
    const options = { stdio: "ignore", windowsHide: true } as const;
    return {
      systemRoot: nodeProcess().env.SystemRoot,
      run: ({ command, args }) =>
        new Promise((resolve, reject) => {
          const helper = this.#processes.spawn(command, args, options);
          helper.on("error", reject).on("exit", (code) => resolve(code === 0));
          helper.unref();
        }),
      runNow: ({ command, args }) => this.#processes.spawnSync(command, args, options).status === 0,
    };
  }
}
