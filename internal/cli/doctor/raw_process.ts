/** A server's process as raw bytes: what went in, what came out, how it ended. Nothing here knows of messages' sense. */

import type { ChildHandle, ExitStatus, RuntimeAdapter, Signal } from "../../../runtime.ts";
import { delay, settlesWithin, systemClock } from "../../clock.ts";
import { type LaunchSettings, planLaunch } from "../../process/launch.ts";
import { OwnedProcess } from "../../process/owned_process.ts";
import { endListed, type ListedProcess, listMarked, listTree } from "../../runtime/node_api/process_list.ts";
import { judgeLine, LineCutter, type RawLine } from "./raw_line.ts";
import { StderrRecord } from "./stderr_record.ts";

/** The variable that marks what a run has started. */
const MARK = "MCP_STDIO_DOCTOR";

/** A process that ends by itself has so long after the end of its input, in milliseconds. */
export const EOF_GRACE_MS = 2_000;
const TERM_GRACE_MS = 2_000;
/** So long a pipe is still read once its process has gone: somebody else may hold it. */
const OUTPUT_GRACE_MS = 500;
/** A helper that outlives the server by less is let be. */
const HELPER_GRACE_MS = 300;

/** How a process was brought to its end. */
export interface EndReport {
  /** What it took: nothing, the end of input, SIGTERM, SIGKILL. */
  readonly step: "already" | "eof" | "term" | "kill";
  readonly exit: ExitStatus | null;
  /** From the end of input to the exit, in milliseconds. */
  readonly ms: number;
  /** What still ran when it had exited. */
  readonly leftovers: readonly string[];
}

/** One process. */
export class RawProcess {
  readonly number: number;
  readonly lines: RawLine[] = [];
  readonly stderr: StderrRecord;
  /** Called for each line. */
  onLine: (line: RawLine) => void = () => {};
  /** The checks that have used it, in order. */
  readonly checks: string[] = [];
  /** Whether messages are kept once they were judged; not for floods. */
  keepsMessages = true;
  /** How many lines were sent. */
  sentLines = 0;
  /** Whether what stands behind the last LF may be cut: it was killed, or its output was closed. */
  mayBeCut = false;
  /** When the last byte came, of stdout or stderr. */
  lastSignAt = 0;
  firstByteAt: number | undefined;
  outputEnded = false;
  exit: ExitStatus | null | undefined;
  end: EndReport | undefined;
  readonly #child: ChildHandle;
  readonly #process: OwnedProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #cutter = new LineCutter();
  readonly #startedAt = systemClock.now();
  readonly #mark: string;
  readonly #waiting = new Set<() => void>();
  #resume: (() => void) | undefined;
  #paused: Promise<void> | undefined;
  #inputEnded = false;
  #ending: Promise<EndReport> | undefined;

  constructor(
    child: ChildHandle,
    { runtime, number, mark }: { runtime: RuntimeAdapter; number: number; mark: string },
  ) {
    this.number = number;
    this.#child = child;
    this.#mark = mark;
    this.#process = new OwnedProcess(child, {
      processGroup: true,
      runtime,
      clock: systemClock,
      onChildOnly: () => {},
      // The next step of the end follows.
      onRefused: () => {},
    });
    const stopWatching = runtime.onProcessEnd(() => this.#process.endNow());
    this.#process.exited.then((exit) => {
      this.exit = exit;
      stopWatching();
      this.#changed();
    });
    this.#writer = child.stdin.getWriter();
    // That a pipe is broken is seen by what comes, or does not.
    this.#writer.closed.catch(() => {});
    this.#reader = child.stdout.getReader();
    this.stderr = new StderrRecord(child.stderr, () => {
      this.lastSignAt = this.now();
      this.#changed();
    });
    this.#read();
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Milliseconds since its start. */
  now(): number {
    return systemClock.now() - this.#startedAt;
  }

  /** Whether it still runs and its output is open. */
  get lives(): boolean {
    return this.exit === undefined && !this.outputEnded;
  }

  /** What stands behind the last LF. */
  get rest(): Uint8Array {
    return this.#cutter.rest;
  }

  /** Writes bytes. Resolves to whether the system has taken them; a broken pipe is no error here. */
  write(bytes: Uint8Array): Promise<boolean> {
    return this.#writer.write(bytes).then(() => true, () => false);
  }

  /** Ends its input; does not wait for it. */
  endInput(): void {
    if (this.#inputEnded) return;
    this.#inputEnded = true;
    // Fails if the pipe is broken, which ends the input as well.
    this.#writer.close().catch(() => {});
  }

  /** Stops reading its stdout; what is asked for already still comes. */
  pause(): void {
    this.#paused ??= new Promise((resolve) => this.#resume = resolve);
  }

  /** Reads on. */
  resume(): void {
    this.#resume?.();
    this.#paused = undefined;
  }

  /** Closes the reading end of its stdout. */
  async closeOutput(): Promise<void> {
    this.mayBeCut = true;
    await this.#reader.cancel().catch(() => {}); // Closed is closed.
  }

  /** Sends a signal to it and its group. */
  signal(signal: Signal): void {
    this.mayBeCut = true;
    this.#process.signal(signal);
  }

  /** Kills it alone, not what it has started. */
  killAlone(): void {
    this.mayBeCut = true;
    this.#child.signal("SIGKILL", "child");
  }

  /** What of it still runs. */
  left(): readonly ListedProcess[] {
    return listMarked(`${MARK}=${this.#mark}`) ?? [];
  }

  /** Waits until the condition holds, looked at with each line, byte of stderr, end and exit. */
  until(condition: () => boolean, limitMs: number): Promise<boolean> {
    if (condition()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const done = (held: boolean): void => {
        systemClock.clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(held);
      };
      const look = (): void => {
        if (condition()) done(true);
      };
      const timer = systemClock.setTimeout(() => done(condition()), limitMs);
      this.#waiting.add(look);
    });
  }

  /** Waits for its exit. */
  exitedWithin(limitMs: number): Promise<boolean> {
    return this.until(() => this.exit !== undefined, limitMs);
  }

  /** The process and what it has started; undefined where that cannot be told. */
  tree(): ListedProcess[] | undefined {
    return listTree(this.pid);
  }

  /** What the process and what it has started hold in memory; undefined where that cannot be told. */
  get rssBytes(): number | undefined {
    return this.tree()?.reduce((sum, { rssBytes }) => sum + rssBytes, 0);
  }

  /** What they have spent on a processor, in milliseconds. */
  get cpuMs(): number | undefined {
    return this.tree()?.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  }

  /** Ends it: the end of input, SIGTERM, SIGKILL; reads the output to its end, and ends what was left. */
  close({ graceMs = EOF_GRACE_MS }: { graceMs?: number } = {}): Promise<EndReport> {
    this.#ending ??= this.#climb(graceMs);
    return this.#ending;
  }

  async #climb(graceMs: number): Promise<EndReport> {
    const began = this.now();
    this.resume();
    const isOver = this.exit !== undefined;
    this.endInput();
    let step: EndReport["step"] = isOver ? "already" : "eof";
    if (!await this.exitedWithin(graceMs)) {
      step = "term";
      this.signal("SIGTERM");
      if (!await this.exitedWithin(TERM_GRACE_MS)) {
        step = "kill";
        this.mayBeCut = true;
        await this.#process.kill();
      }
    }
    const ms = this.now() - began;
    const leftovers = await this.#endLeftovers();
    await this.until(() => this.outputEnded, OUTPUT_GRACE_MS);
    await this.stderr.close(OUTPUT_GRACE_MS);
    if (!this.outputEnded) await this.closeOutput();
    this.end = { step, exit: this.exit ?? null, ms, leftovers };
    return this.end;
  }

  /** Finds what the server has left, by the variable in its environment, and ends it by its id. */
  async #endLeftovers(): Promise<string[]> {
    const marked = () => listMarked(`${MARK}=${this.#mark}`);
    const isLeft = () => marked()?.length ?? Number(this.#child.groupAlive());
    for (let waited = 0; isLeft() > 0 && waited < HELPER_GRACE_MS; waited += 20) await pauseFor(20);
    const left = marked();
    if (left === undefined && this.#child.groupAlive()) {
      await this.#process.endHelpers();
      return ["a process of its group"];
    }
    for (const each of left ?? []) endListed(each);
    return (left ?? []).map(({ pid, command }) => `${command} (process ${pid})`);
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        if (this.#paused !== undefined) await this.#paused;
        const { done, value } = await this.#reader.read();
        if (done) break;
        this.#take(value);
      }
    } catch {
      this.mayBeCut = true; // A pipe that broke has nothing more to say.
    }
    this.outputEnded = true;
    this.#changed();
  }

  #take(chunk: Uint8Array): void {
    const at = this.now();
    this.firstByteAt ??= at;
    this.lastSignAt = at;
    for (const bytes of this.#cutter.push(chunk)) {
      const place = {
        index: this.lines.length,
        at,
        sentBefore: this.sentLines,
        check: this.checks.at(-1) ?? "",
      };
      const line = judgeLine(bytes, place, this.keepsMessages);
      this.lines.push(line);
      this.onLine(line);
    }
    this.#changed();
  }

  #changed(): void {
    for (const look of [...this.#waiting]) look();
  }
}

/** How a process is to be started. */
export interface StartPlan {
  readonly launch: LaunchSettings;
  readonly runtime: RuntimeAdapter;
  readonly number: number;
}

/**
 * Starts a process, marked by a variable of its own.
 *
 * @throws {ProcessError} If it cannot be started.
 */
export async function startRaw({ launch, runtime, number }: StartPlan): Promise<RawProcess> {
  const mark = crypto.randomUUID();
  const command = await planLaunch({ ...launch, env: { ...launch.env, [MARK]: mark } }, runtime);
  return new RawProcess(await runtime.spawn(command), { runtime, number, mark });
}

/** Whether a promise settles in time. */
export function settles(promise: Promise<unknown>, limitMs: number): Promise<boolean> {
  return settlesWithin(systemClock, promise, limitMs);
}

/** Lets time pass, where nothing can be waited for. */
export function pauseFor(ms: number): Promise<void> {
  return delay(systemClock, ms);
}
