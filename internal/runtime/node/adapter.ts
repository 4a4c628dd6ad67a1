/** Node as a runtime. */

import type { ChildHandle, OwnStdio, SpawnCommand } from "../../../runtime.ts";
import { LazyStdio } from "../byte_channel.ts";
import { NodeApiRuntime } from "../node_api/adapter.ts";
import { countWords } from "../../shown_text.ts";
import { takeStdout } from "./descriptors.ts";
import { writeToStderr } from "./stderr.ts";
import { ownStdin, ownStdout } from "./stdio.ts";
import { stdoutGuard } from "./stdout_guard.ts";
import { nodeProcess } from "./process.ts";

/** The adapter for Node. */
export class NodeRuntime extends NodeApiRuntime {
  readonly name: string = `node ${nodeProcess().versions.node}`;
  /** A rejection that nobody observes becomes one of these. */
  protected readonly uncaughtEvents: readonly string[] = ["uncaughtException"];

  constructor() {
    super(nodeProcess());
  }

  async spawn(command: SpawnCommand): Promise<ChildHandle> {
    const { spawnOnNode } = await import("./child.ts");
    return await spawnOnNode(command, this);
  }

  protected takeStdio(exclusive: boolean): OwnStdio {
    const stdout = exclusive ? takeStdout() : undefined;
    return new LazyStdio(ownStdin(), ownStdout(stdout), stdout !== undefined);
  }

  stdinIsTerminal(): boolean | Promise<boolean> {
    const tty = nodeProcess().getBuiltinModule?.("node:tty"); // Missing before Node 20.16.
    return tty === undefined ? import("node:tty").then(({ isatty }) => isatty(0)) : tty.isatty(0);
  }

  guardStdout(): () => void {
    return stdoutGuard.hold();
  }

  writeStderr(text: string): void {
    writeToStderr(text);
  }

  protected async stat(path: string): Promise<{ isFile(): boolean; isDirectory(): boolean }> {
    const { stat } = await import("node:fs/promises");
    return await stat(path);
  }

  protected whatIsAlive(): string {
    return countWords(nodeProcess().getActiveResourcesInfo());
  }
}
