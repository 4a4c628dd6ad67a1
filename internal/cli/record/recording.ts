/** A recording as it is made: what passes goes in, and what is wrong with it is said once, on stderr. */

import type { ChildHandle, ExitStatus } from "../../../runtime.ts";
import { createPrivateFile, type PrivateFile } from "../../runtime/node_api/private_file.ts";
import { quoteText } from "../../shown_text.ts";
import { messageOf } from "../../thrown.ts";
import { VERSION } from "../../version.ts";
import type { CliIo } from "../io.ts";
import type { Source } from "../recording/format.ts";
import type { ServerTarget } from "../target.ts";
import { Backlog } from "./backlog.ts";
import { EventLog } from "./event_log.ts";
import type { PumpEvents } from "./pump.ts";
import { Recorder, type UntimedEvent } from "./recorder.ts";

/** What a recording is about. */
export interface RecordingSettings {
  readonly path: string;
  readonly target: ServerTarget;
  readonly server: ChildHandle;
  readonly keepsSecrets: boolean;
}

/** A recording as it is made. */
export class Recording {
  readonly #io: CliIo;
  readonly #file: PrivateFile | undefined;
  readonly #log: EventLog | undefined;
  #backlog: Backlog | undefined;

  private constructor(file: PrivateFile | undefined, settings: RecordingSettings, io: CliIo) {
    const { target, server, keepsSecrets } = settings;
    const { clock, runtime } = io;
    this.#io = io;
    this.#file = file;
    if (file === undefined) return;
    const startedAt = clock.now();
    const elapsedMs = () => clock.now() - startedAt;
    const log = new EventLog(file, { clock, elapsedMs, onFailed: (error) => this.#stop(error) });
    this.#log = log;
    const recorder = new Recorder({ keepsSecrets, write: (lines) => log.write(lines) });
    this.#backlog = new Backlog({
      recorder,
      clock,
      elapsedMs,
      onFailed: (error) => this.#stop(error),
      isFull: () => log.isFull,
      hasRoom: () => log.hasRoom(),
    });
    recorder.start({
      at: new Date().toISOString(),
      by: `mcp-stdio ${VERSION} on ${runtime.name}`,
      command: target.commandLine,
      pid: server.pid,
      masked: !keepsSecrets,
    });
  }

  /** Begins one. Without a file there is none, and the session goes on. */
  static async open(settings: RecordingSettings, io: CliIo): Promise<Recording> {
    try {
      return new Recording(await createPrivateFile(settings.path), settings, io);
    } catch (error) {
      io.screen.warn(`Cannot record into ${quoteText(settings.path)}: ${messageOf(error)}`);
      return new Recording(undefined, settings, io);
    }
  }

  /** Where the file is, if there is one. */
  get path(): string | undefined {
    return this.#file?.path;
  }

  /** What a pump tells of one direction. */
  directionOf(from: Source, onEnd?: () => void): PumpEvents {
    return {
      onBytes: (bytes) => this.#backlog?.take(from, bytes),
      onEnd: () => {
        this.#backlog?.end(from);
        onEnd?.();
      },
      onRefused: () => this.event({ kind: "refused", of: from }),
    };
  }

  /** Something has happened. */
  event(event: UntimedEvent): void {
    this.#backlog?.event(event);
  }

  /** The server has ended: what is left goes into the file. */
  async close(exit: ExitStatus | null): Promise<void> {
    this.event({ kind: "exit", ...exit });
    await this.#backlog?.finish();
    await this.#log?.close();
  }

  #stop(error: unknown): void {
    if (this.#backlog === undefined) return;
    this.#backlog.drop();
    this.#backlog = undefined;
    this.#io.screen.warn(
      `Cannot go on with the recording ${quoteText(this.path ?? "")}: ${messageOf(error)}`,
    );
  }
}
