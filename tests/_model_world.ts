/** The world of the model: a client, its servers, their users, and whatever happens to them, in memory and in one thread. */

import { Client, type ClientOptions, type Listening, spawn } from "../client.ts";
import type { Logger } from "../logger.ts";
import type { Params } from "../messages.ts";
import type { Server } from "../server.ts";
import { createFakeRuntime, createStreamPair, type FakeProcess } from "../testing.ts";
import { drain, ModelClock } from "./_model_clock.ts";
import { ForeignServer } from "./_model_foreign.ts";
import { makeServer, runName } from "./_model_handlers.ts";
import { Life } from "./_model_life.ts";
import { makeLine, requestsOf } from "./_model_lines.ts";
import { ModelCall } from "./_model_call.ts";
import type { Callback, Config, Plan, Schedule, Step } from "./_model_schedule.ts";
import { CountedSignal } from "./_model_signal.ts";
import { odd } from "./_model_values.ts";

/** One line of a log. */
export interface Logged {
  readonly level: keyof Logger;
  readonly text: string;
}

/** An open listen stream and how much was read of it. */
interface Listener {
  readonly listening: Listening;
  readonly state: { ended: boolean };
}

/** Runs a schedule and keeps what came of it; `_model_rules.ts` judges. */
export class World {
  readonly config: Config;
  readonly clock: ModelClock = new ModelClock();
  readonly calls: ModelCall[] = [];
  readonly begun: Set<string> = new Set();
  readonly ended: Map<string, number> = new Map();
  readonly lives: Life[] = [];
  readonly processes: FakeProcess[] = [];
  readonly logged: Logged[] = [];
  /** What went wrong at once. */
  readonly complaints: string[] = [];
  readonly shared: CountedSignal = new CountedSignal();
  readonly steps: readonly Step[];
  /** How the client came to be, or did not. */
  connected: "pending" | "connected" | { readonly error: unknown } = "pending";
  closed = false;
  /** The step in which the client was closed. */
  closedIn: number = Infinity;
  step = -1;
  readonly #listeners: Listener[] = [];
  /** Notifications of the client. */
  readonly #notices: { readonly settled: boolean }[] = [];
  readonly #questions: { readonly signal: AbortSignal; readonly answered: boolean }[] = [];
  readonly #gates = new Map<number, { readonly opened: Promise<void>; readonly open: () => void }>();
  readonly #abort = new AbortController();
  #released = false;
  #client: Client | undefined;
  #asked = 0;
  #connecting: Promise<void> | undefined;
  readonly #servers: Server[] = [];
  readonly #closing: Promise<unknown>[] = [];

  constructor({ config, steps }: Schedule) {
    this.config = config;
    this.steps = steps;
  }

  /** Runs all of it. */
  async run(): Promise<void> {
    this.#connecting = this.#connect();
    await drain();
    for (let tries = 0; tries < 3 && this.connected === "pending"; tries++) await this.clock.advance(4_000);
    for (const step of this.steps) {
      this.step++;
      await this.#do(step);
      await drain();
    }
    this.step++;
    await this.#end();
  }

  /** Opens when the schedule says so. */
  gate(key: number): Promise<void> {
    let gate = this.#gates.get(key);
    if (gate === undefined) {
      let open!: () => void;
      gate = { opened: new Promise<void>((resolve) => open = resolve), open };
      this.#gates.set(key, gate);
      if (this.#released) gate.open();
    }
    return gate.opened;
  }

  get #life(): Life | undefined {
    return this.lives.at(-1);
  }

  // How it begins.

  async #connect(): Promise<void> {
    try {
      this.#client = await (this.config.mode === "pair" ? this.#connectPair() : this.#spawn());
      this.connected = "connected";
    } catch (error) {
      this.connected = { error };
    }
  }

  #connectPair(): Promise<Client> {
    const [here, there] = createStreamPair({ capacityBytes: this.config.capacityBytes });
    const life = new Life(there, 0, this.config.inhabitants[0]!, () => this.step);
    this.#inhabit(life, () => {});
    const streams = { readable: here.readable, writable: life.tapClient(here.writable) };
    return Client.connect(streams, this.#clientOptions());
  }

  #spawn(): Promise<Client> {
    const { inhabitants, maxRestarts, leavesAtOnce } = this.config;
    const runtime = createFakeRuntime({
      onSpawn: (process) => {
        const index = this.processes.push(process) - 1;
        const inhabitant = inhabitants[Math.min(index, inhabitants.length - 1)]!;
        process.ignoresEndOfInput = !leavesAtOnce;
        this.#inhabit(new Life(process, index, inhabitant, () => this.step), () => process.exit({ code: 0 }));
      },
    });
    const start = runtime.spawn.bind(runtime);
    runtime.spawn = async (command) => {
      const handle = await start(command);
      return { ...handle, stdin: this.#life!.tapClient(handle.stdin) };
    };
    return spawn({
      command: "model",
      runtime,
      maxRestarts,
      signal: this.#abort.signal,
      onStateChange: () => {},
      ...this.#clientOptions(),
    });
  }

  #inhabit(life: Life, leave: () => void): void {
    this.lives.push(life);
    if (!life.inhabitant.startsWith("ours")) {
      new ForeignServer(life, this, leave).run().then(leave, leave);
      return;
    }
    const server = makeServer(this.config, this, this.#logger(), life);
    this.#servers[life.index] = server;
    server.run(life.streams).then(({ reason }) => {
      life.end = reason;
      leave();
    }, (error) => void this.complaints.push(`the server's run has rejected: ${error}`));
  }

  #clientOptions(): ClientOptions {
    const { era, maxLineBytes, readBufferBytes, maxQueuedNotifications, traceFrames } = this.config;
    const { inputHandler, onNotification, inlineNotifications } = this.config;
    return {
      era,
      limits: { maxLineBytes, readBufferBytes, maxQueuedNotifications },
      clock: this.clock,
      logger: this.#logger(),
      traceFrames,
      inlineNotifications,
      logLevel: "debug",
      ...(onNotification === "none" ? {} : { onNotification: () => this.#heard(onNotification) as void }),
      ...(inputHandler === "none" ? {} : {
        inputHandlers: {
          "elicitation/create": (_params, { signal }) => this.#ask(inputHandler, signal) as never,
        },
      }),
    };
  }

  #heard(callback: Callback | "asks"): unknown {
    // A server may answer with a notification: that must not go on for ever.
    if (callback === "asks" && this.#client !== undefined && !this.closed && this.#asked++ < 3) {
      return this.#client.request("tools/list", {}, { timeoutMs: 50 }).then(() => {}, () => {}); // Whatever comes of it.
    }
    return callback === "asks" ? undefined : this.act(callback);
  }

  /** What a callback of the user does. */
  act(callback: Callback): unknown {
    if (callback === "throws") throw new Error("by the callback");
    if (callback === "rejects") return Promise.reject(new Error("by the callback"));
    if (callback === "slow") return new Promise<void>((resolve) => void this.clock.setTimeout(resolve, 40));
    return undefined;
  }

  /** A question that nobody waits for any more must have been told so. */
  #ask(handler: Exclude<Config["inputHandler"], "none">, signal: AbortSignal): unknown {
    const question = { signal, answered: false };
    const answer = this.#answerOf(handler);
    if (handler !== "never" && handler !== "slow") return answer;
    this.#questions.push(question);
    return (answer as Promise<unknown>).finally(() => question.answered = true);
  }

  #answerOf(handler: Exclude<Config["inputHandler"], "none">): unknown {
    if (typeof handler === "object") return odd(handler.odd);
    if (handler === "throws") throw new Error("by the handler");
    if (handler === "never") return new Promise(() => {});
    const answer = { action: "accept", content: {} };
    if (handler === "answers") return answer;
    // The clock is the model's: nobody waits.
    return new Promise((resolve) => void this.clock.setTimeout(() => resolve(answer), 200));
  }

  #logger(): Logger {
    const keep = (level: keyof Logger) => (message: string, ...details: unknown[]): void => {
      this.logged.push({ level, text: `${message} ${details.map(describe).join(" ")}` });
      if (this.config.logger === "throws") throw new Error("by the logger");
    };
    return { debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") };
  }

  // What happens.

  async #do(step: Step): Promise<void> {
    const client = this.#client;
    switch (step.do) {
      case "call":
        if (client !== undefined) this.calls.push(new ModelCall(step, client, this));
        return;
      case "abort": {
        const open = this.calls.filter(({ isAbortable }) => isAbortable);
        return open[step.pick % open.length]?.abort(step.reason);
      }
      case "abort_shared":
        return this.shared.controller.abort("shared");
      case "release": {
        const keys = [...this.#gates.keys()];
        return this.#gates.get(keys[step.pick % keys.length]!)?.open();
      }
      case "release_all":
        return this.#gates.forEach(({ open }) => open());
      case "advance":
        return await this.clock.advance(step.ms);
      case "turn":
        return;
      case "notify": {
        if (client === undefined) return;
        const params = step.params === undefined ? { a: 1 } : odd(step.params);
        const told = { settled: false };
        this.#notices.push(told);
        const settle = (): void => void (told.settled = true);
        this.#attempt(
          () => void client.notify("notifications/x", params as Params).then(settle, settle),
          settle,
        );
        return;
      }
      case "listen":
        return this.#listen(step);
      case "read": {
        const { listening } = this.#listeners[step.pick % this.#listeners.length] ?? {};
        for (let count = 0; count < step.count; count++) void listening?.next();
        return;
      }
      case "unlisten":
        return this.#listeners[step.pick % this.#listeners.length]?.listening.close();
      case "publish":
        return this.#publish(step);
      case "line":
        return this.#print(step);
      case "pause":
        return this.#life?.pause();
      case "hold":
        return this.#life?.hold();
      case "resume":
        return this.#life?.resume();
      case "crash":
        return this.#crash(step.how);
      case "server_close":
        return void this.#servers.at(-1)?.close();
      case "close":
        return this.#close(step.how);
    }
  }

  #listen({ reads, filter }: Step & { do: "listen" }): void {
    const filters = [
      { toolsListChanged: true },
      { resourceSubscriptions: ["x://a"] },
      { resourcesListChanged: true, promptsListChanged: true },
      {},
    ];
    if (this.#client === undefined) return;
    let listening: Listening;
    try {
      listening = this.#client.listen(filters[filter]!);
    } catch (error) {
      if (!this.closed && !isOver(this.#client)) this.complaints.push(`listen() has thrown: ${error}`);
      return;
    }
    const listener = { listening, state: { ended: false } };
    this.#listeners.push(listener);
    listening.acknowledged.catch(() => {}); // Refused, late or lost: the end tells.
    listening.ended.then(() => void (listener.state.ended = true));
    if (reads === "all") void readAll(listening);
    if (reads === "some") void listening.next();
  }

  #publish({ what, odd: name }: Step & { do: "publish" }): void {
    const server = this.#servers.at(-1);
    if (server === undefined) return;
    const value = name === undefined ? undefined : odd(name);
    this.#attempt(() => {
      if (what === 0) server.publish("notifications/resources/updated", { uri: "x://a" });
      if (what === 1) server.publish("notifications/tools/list_changed", value as Params);
      if (what === 2) server.publish("notifications/resources/updated", { uri: "x://a", value });
      if (what === 3 && !server.removeTool("other")) server.addTool("other", { call: () => "" });
    });
  }

  #print({ line, pick }: Step & { do: "line" }): void {
    const life = this.#life;
    if (life === undefined) return;
    const { open } = requestsOf(life);
    const closed = this.calls.filter(({ outcome }) => outcome !== undefined).flatMap((call) =>
      call.idsIn(life)
    );
    const { bytes, costs, spoils } = makeLine(line, pick, {
      open,
      closed,
      maxLineBytes: this.config.maxLineBytes,
    });
    if (spoils) life.isDisturbed = true;
    for (const call of this.calls) {
      if (costs !== undefined && call.idsIn(life).includes(costs)) call.isSpoilt = true;
    }
    life.inject(bytes);
  }

  #crash(how: (Step & { do: "crash" })["how"]): void {
    const life = this.#life;
    const process = this.processes.at(-1);
    if (life === undefined || process === undefined) return;
    life.isDisturbed = true;
    switch (how) {
      case "exit":
        return process.exit({ code: 1 });
      case "signal":
        return process.exit({ signal: "SIGKILL" });
      case "half_line":
        life.inject(`{"jsonrpc":"2.0","id":${requestsOf(life).open[0] ?? 1},"result":{"content":[`);
        return process.exit({ code: 1 });
      case "close_stdout":
        return process.closeStdout();
      case "close_stdin":
        return process.closeStdin();
      case "hang":
        process.ignoredSignals.add("SIGTERM");
        process.ignoresEndOfInput = true;
        return life.pause();
    }
  }

  #close(how: (Step & { do: "close" })["how"]): void {
    if (how === "abort") {
      this.closed ||= this.config.mode === "spawn";
      this.#abort.abort(new Error("by the signal"));
    }
    const client = this.#client;
    if (client === undefined || how === "abort") return;
    this.closed = true;
    this.closedIn = Math.min(this.closedIn, this.step);
    const closing = how === "close" ? client.close() : client.kill();
    this.#closing.push(
      closing.catch((error) => void this.complaints.push(`${how}() has rejected: ${error}`)),
    );
  }

  // How it ends.

  async #end(): Promise<void> {
    const { final, mode } = this.config;
    if (final === "server") {
      void this.#servers.at(-1)?.close();
      await this.clock.advance(500);
    }
    if (this.connected === "pending" && mode === "pair") await this.clock.advance(200_000);
    this.#close(final === "kill" ? "kill" : final === "abort" && mode === "spawn" ? "abort" : "close");
    if (this.connected === "pending") this.#abort.abort("enough");
    await drain();
    await this.#settle("the client has come to be or not", () => this.connected !== "pending");
    // One that came to be in the last moment is closed, too.
    if (this.#client !== undefined && !this.closed) this.#close("close");
    await drain();
    const unsettled = this.calls.filter(({ outcome }) => outcome === undefined).map(({ made }) => made.key);
    this.#check(`every call has settled when the client is closed (${unsettled})`, unsettled.length === 0);
    const untold = this.#notices.filter(({ settled }) => !settled).length;
    this.#check(`every notification has settled when the client is closed (${untold})`, untold === 0);
    const idle = this.#questions.filter(({ signal, answered }) => !answered && !signal.aborted).length;
    this.#check(`every question is withdrawn when the client is closed (${idle})`, idle === 0);
    for (const life of this.lives) life.resume();
    await this.#settle(
      "close() has ended",
      () => this.#closing.every((_, index) => this.#closedAll[index] === true),
    );
    this.#released = true;
    this.#gates.forEach(({ open }) => open());
    await this.#settle("every process has ended", () => this.processes.every(({ ended }) => ended));
    await this.#settle(
      "every server's run has ended",
      () => this.lives.every((life) => !life.inhabitant.startsWith("ours") || life.end !== undefined),
    );
    await this.#settle(
      "every listen stream has ended",
      () => this.#listeners.every(({ state }) => state.ended),
    );
    await this.clock.advance(10_000);
    await drain();
    await this.#connecting;
    const unended = this.calls.filter(({ made: { key, plan } }) =>
      !mayStay(plan) &&
      this.lives.map(({ index }) => runName(index, key)).some((name) =>
        this.begun.has(name) && !this.ended.has(name)
      )
    );
    this.#check(`every handler has ended (${unended.map(({ made }) => made.key)})`, unended.length === 0);
    this.#check(`no timer is left (${this.clock.pending})`, this.clock.pending === 0);
    this.#check(`no listener is left on a signal (${this.shared.listeners})`, this.shared.listeners === 0);
    const own = this.calls.reduce((sum, call) => sum + (call.signal?.listeners ?? 0), 0);
    this.#check(`no listener is left on a call's signal (${own})`, own === 0);
    const strays = this.processes.flatMap(({ straySignals }) => straySignals);
    this.#check(`no signal went to a stranger (${strays})`, strays.length === 0);
  }

  readonly #closedAll: boolean[] = [];

  async #settle(what: string, condition: () => boolean): Promise<void> {
    this.#closing.forEach((closing, index) => void closing.then(() => this.#closedAll[index] = true));
    await drain();
    for (let tries = 0; tries < 30 && !condition(); tries++) await this.clock.advance(500);
    this.#check(what, condition());
  }

  /** Misuse is told at once, and so is what a value of the user throws when it is looked at; nothing else comes through. */
  #attempt(act: () => void, refused: () => void = () => {}): void {
    try {
      act();
    } catch (error) {
      refused();
      if (error instanceof TypeError || (error as Error).message === "looked at") return;
      this.complaints.push(`the user is thrown at: ${error}`);
    }
  }

  #check(what: string, holds: boolean): void {
    if (!holds) this.complaints.push(`not so: ${what}`);
  }
}

/** Whether a handler may never end by its own doing. */
function mayStay({ ending }: Plan): boolean {
  return ending === "never" || typeof ending === "object";
}

function isOver(client: Client): boolean {
  return client.state === "closed" || client.state === "closing";
}

async function readAll(listening: Listening): Promise<void> {
  for await (const event of listening) void event;
}

function describe(detail: unknown): string {
  try {
    if (detail instanceof Error) return `${detail.stack}`;
    if (typeof detail !== "object" || detail === null) return String(detail);
    return Object.entries(detail).map(([name, value]) =>
      `${name}=${value instanceof Error ? value.stack : String(value)}`
    ).join(" ");
  } catch {
    return "?";
  }
}
