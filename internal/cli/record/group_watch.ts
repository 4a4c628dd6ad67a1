/**
 * A small process beside the server, in the same process group as it and the recorder. It answers two questions that nobody
 * else can: whether a signal was meant for the whole group, in which case the server has had it already (a second SIGTERM
 * makes many servers end at once), and whether the recorder was killed, in which case it kills the server: so a host's SIGKILL
 * ends the server behind the recorder as it would without it.
 */

import type { ChildHandle, RuntimeAdapter } from "../../../runtime.ts";

/** Echoes lines; at the end of its input, which is the recorder's death, it kills the server. */
const SCRIPT = 'while read -r _; do echo; done; kill -KILL "$1" 2>/dev/null';

/** The process that watches. */
export class GroupWatch {
  readonly #child: ChildHandle;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #last: Promise<boolean> = Promise.resolve(false);

  private constructor(child: ChildHandle) {
    this.#child = child;
    this.#writer = child.stdin.getWriter();
    this.#reader = child.stdout.getReader();
    child.unref();
  }

  /** Starts one; undefined where there is no such thing. */
  static async start(runtime: RuntimeAdapter, serverPid: number): Promise<GroupWatch | undefined> {
    if (runtime.os === "windows") return undefined;
    try {
      return new GroupWatch(
        await runtime.spawn({
          command: "/bin/sh",
          args: ["-c", SCRIPT, "sh", String(serverPid)],
          env: {},
          stderr: "ignore",
          processGroup: false,
        }),
      );
    } catch {
      return undefined; // Without it signals are handed on, as they come.
    }
  }

  /** Whether the signal that has just come was for the whole group: then it has ended this process as well. */
  wasForGroup(): Promise<boolean> {
    return this.#last = this.#last.then((wasBefore) => wasBefore || this.#isGone());
  }

  /** Ends it, and nothing else. Its exit is not waited for: it holds nothing open, so that this process could end meanwhile. */
  stop(): void {
    this.#child.signal("SIGKILL", "child");
  }

  async #isGone(): Promise<boolean> {
    try {
      await this.#writer.write(new Uint8Array([0x0a]));
      return (await this.#reader.read()).done;
    } catch {
      return true; // Nobody reads: it is gone.
    }
  }
}
