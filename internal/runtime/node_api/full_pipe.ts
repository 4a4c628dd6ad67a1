/** A pipe of a name that is filled to the brim: whoever writes to it has to wait, or does not. */

import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A named pipe that this process has opened at both ends. */
export class FullPipe {
  readonly path: string;
  /** How many bytes of ours are in it. */
  filledBytes = 0;
  readonly #folder: string;
  readonly #descriptor: number;

  /** Makes one; throws where there are none, as on Windows. */
  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), "mcp-stdio-doctor-"));
    this.path = join(this.#folder, "stderr");
    try {
      execFileSync("mkfifo", ["-m", "600", this.path]);
      // Opened anew, so that O_NONBLOCK is on this end alone and the other writer's stays as it is.
      this.#descriptor = openSync(this.path, constants.O_RDWR | constants.O_NONBLOCK);
    } catch (error) {
      rmSync(this.#folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Reads what is in it; gives how many bytes that were. */
  drain(): number {
    return this.#untilBlocked((chunk) => readSync(this.#descriptor, chunk, 0, chunk.length, null));
  }

  /** Writes until nothing more fits. */
  fill(): void {
    const write = (size: number) =>
      this.#untilBlocked((chunk) => writeSync(this.#descriptor, chunk.fill(0x0a), 0, size));
    this.filledBytes += write(4_096);
    this.filledBytes += write(1);
  }

  /** Lets go of it and takes it from the disk. */
  close(): void {
    closeSync(this.#descriptor);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #untilBlocked(act: (chunk: Uint8Array) => number): number {
    const chunk = new Uint8Array(4_096);
    let bytes = 0;
    try {
      for (let done = act(chunk); done > 0; done = act(chunk)) bytes += done;
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EAGAIN") throw error;
    }
    return bytes;
  }
}
