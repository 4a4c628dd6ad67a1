/** Bun as a runtime. */

import type { ChildHandle, OwnStdio, SpawnCommand } from "../../../runtime.ts";
import { takeDescriptors } from "./descriptors.ts";
import { LazyStdio } from "../byte_channel.ts";
import { NodeApiRuntime } from "../node_api/adapter.ts";
import { openLibC } from "./libc.ts";
import { Bun, bunProcess } from "./namespace.ts";
import { writeToStderr } from "./stderr.ts";
import { ownStdin, ownStdout } from "./stdio.ts";
import { stdoutGuard } from "./stdout_guard.ts";

/** The adapter for Bun. */
export class BunRuntime extends NodeApiRuntime {
  readonly name: string = `bun ${Bun.version}`;
  protected readonly uncaughtEvents: readonly string[] = ["uncaughtException", "unhandledRejection"];

  constructor() {
    super(bunProcess());
  }

  async spawn(command: SpawnCommand): Promise<ChildHandle> {
    const { spawnOnBun } = await import("./child.ts");
    return await spawnOnBun(command, this);
  }

  protected takeStdio(exclusive: boolean): OwnStdio {
    const { stdin, stdout } = exclusive ? takeDescriptors() : {};
    return new LazyStdio(ownStdin(stdin), ownStdout(stdout), stdout !== undefined);
  }

  stdinIsTerminal(): boolean | Promise<boolean> {
    const libc = openLibC();
    return libc === undefined ? import("node:tty").then(({ isatty }) => isatty(0)) : libc.isatty(0) === 1;
  }

  guardStdout(): () => void {
    return stdoutGuard.hold();
  }

  writeStderr(text: string): void {
    writeToStderr(text);
  }

  protected stat(path: string): Promise<{ isFile(): boolean; isDirectory(): boolean }> {
    return Bun.file(path).stat();
  }

  /** Bun has no list of that. */
  protected whatIsAlive(): string {
    return "";
  }
}
