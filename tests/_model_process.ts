/** A small part of the model over real processes: what needs no fake time, and whether anything is left. */

import process from "node:process";
import { type Client, type Listening, spawn } from "../client.ts";
import type { Logger } from "../logger.ts";
import { ModelCall } from "./_model_call.ts";
import { judgeCall } from "./_model_rules.ts";
import type { Callback, Schedule, Step } from "./_model_schedule.ts";
import { CountedSignal } from "./_model_signal.ts";
import { waitUntil } from "./helpers.ts";
import { program } from "./runtime_adapter/harness.ts";

const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** A world with a server in a process, and the clock on the wall. */
export class ProcessWorld {
  readonly complaints: string[] = [];
  readonly calls: ModelCall[] = [];
  readonly shared: CountedSignal = new CountedSignal();
  readonly config: Schedule["config"];
  step = 0;
  readonly #steps: readonly Step[];
  readonly #pids = new Set<number>();
  readonly #listens: Listening[] = [];

  constructor({ config, steps }: Schedule) {
    this.config = config;
    this.#steps = steps;
  }

  /** Runs it and gives what is wrong. */
  async run(): Promise<string[]> {
    const [command, ...args] = program("model_server.ts", [JSON.stringify(this.config)]);
    const { maxLineBytes, readBufferBytes, era, maxRestarts } = this.config;
    const client = await spawn({
      command: command!,
      args,
      era,
      maxRestarts,
      limits: { maxLineBytes, readBufferBytes },
      stderr: "capture",
      shutdownGraceMs: 1_000,
      terminateGraceMs: 200,
      logLevel: "debug",
      logger: this.#logger(),
      onNotification: () => {},
      inputHandlers: { "elicitation/create": () => ({ action: "accept", content: {} }) },
      onStateChange: () => {},
    });
    for (const step of this.#steps) {
      this.step++;
      if (client.pid !== undefined) this.#pids.add(client.pid);
      await this.#do(step, client);
    }
    if (client.pid !== undefined) this.#pids.add(client.pid);
    await (this.config.final === "kill" ? client.kill() : client.close());
    await wait(0);
    const open = this.calls.filter(({ outcome }) => outcome === undefined).map(({ made }) => made.key);
    if (open.length > 0) this.complaints.push(`calls ${open} have never settled`);
    await Promise.all(this.#listens.map(({ ended }) => ended));
    await waitUntil(() => [...this.#pids].every((pid) => !isAlive(pid)), { what: "the servers have gone" });
    if (this.shared.listeners > 0) this.complaints.push("listeners are left");
    return [...this.complaints, ...this.calls.flatMap((call) => judgeCall(call, this.config, false))];
  }

  /** What a callback of the user does. */
  act(callback: Callback): unknown {
    if (callback === "throws") throw new Error("by the callback");
    if (callback === "rejects") return Promise.reject(new Error("by the callback"));
    return callback === "slow" ? wait(5) : undefined;
  }

  #logger(): Logger {
    const ignore = (): void => {};
    const keep = (message: string): void => {
      if (message.includes("S3CRET")) this.complaints.push("the log holds what was in a frame");
    };
    return { debug: keep, info: keep, warn: keep, error: ignore };
  }

  async #do(step: Step, client: Client): Promise<void> {
    switch (step.do) {
      case "call":
        return void this.calls.push(new ModelCall(step, client, this));
      case "abort": {
        const open = this.calls.filter(({ isAbortable }) => isAbortable);
        return open[step.pick % open.length]?.abort(step.reason);
      }
      case "abort_shared":
        return this.shared.controller.abort("shared");
      case "advance":
      case "turn":
        return await wait(step.do === "turn" ? 1 : Math.min(step.ms, 20));
      case "notify":
        return void client.notify("notifications/throw").catch(() => {}); // There may be nobody to hear it.
      case "listen":
        if (client.state !== "closed") this.#listen(client.listen({ toolsListChanged: true }));
        return;
      case "unlisten":
        return this.#listens[step.pick % this.#listens.length]?.close();
      case "crash":
        return this.#kill(client.pid, step.how === "hang" ? "SIGSTOP" : "SIGKILL");
      default:
        return; // What needs the other end in this process.
    }
  }

  #listen(listening: Listening): void {
    this.#listens.push(listening);
    listening.acknowledged.catch(() => {}); // Refused, late or lost: the end tells.
    void (async () => {
      for await (const event of listening) void event;
    })();
  }

  #kill(pid: number | undefined, signal: "SIGSTOP" | "SIGKILL"): void {
    if (pid === undefined) return;
    try {
      process.kill(pid, signal);
    } catch {
      // It has gone by itself.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
