/** One request of the model: how it is made, what its callbacks do, and what becomes of it. */

import type { Client, RequestOptions } from "../client.ts";
import type { Params, Result } from "../messages.ts";
import { SECRET } from "./_model_handlers.ts";
import type { Life } from "./_model_life.ts";
import type { Callback, Step } from "./_model_schedule.ts";
import { odd, type OddName } from "./_model_values.ts";
import { CountedSignal } from "./_model_signal.ts";

/** What a call needs of the world. */
export interface CallWorld {
  readonly shared: CountedSignal;
  readonly complaints: string[];
  readonly step: number;
  act(callback: Callback): unknown;
}

/** What became of it. */
export type Outcome =
  | { readonly kind: "result"; readonly result: Result; readonly step: number }
  | { readonly kind: "error"; readonly error: unknown; readonly step: number }
  | { readonly kind: "thrown"; readonly error: unknown; readonly step: number };

/** A request and its fate. */
export class ModelCall {
  readonly made: Step & { readonly do: "call" };
  readonly signal: CountedSignal | undefined;
  outcome: Outcome | undefined;
  /** Whether somebody else has had a hand in its answer. */
  isSpoilt = false;
  /** What it was aborted with. */
  reason: { readonly value: unknown } | undefined;
  readonly #world: CallWorld;

  constructor(made: Step & { readonly do: "call" }, client: Client, world: CallWorld) {
    this.made = made;
    this.#world = world;
    const { signal } = made.options;
    if (signal === "own" || signal === "aborted") this.signal = new CountedSignal();
    if (signal === "aborted") this.abort(undefined);
    try {
      const [method, params] = this.#ask();
      client.request(method, params, this.#options()).then(
        (result) => this.#settle({ kind: "result", result, step: world.step }),
        (error) => this.#settle({ kind: "error", error, step: world.step }),
      );
    } catch (error) {
      this.#settle({ kind: "thrown", error, step: world.step });
    }
  }

  get isAbortable(): boolean {
    return this.signal !== undefined && !this.signal.controller.signal.aborted;
  }

  abort(name: OddName | undefined): void {
    const value = name === undefined ? "enough" : odd(name);
    this.signal!.controller.abort(value);
    // Without a reason the platform makes one.
    this.reason = { value: this.signal!.controller.signal.reason };
  }

  /** The ids under which a server has read it. */
  idsIn(life: Life): (string | number)[] {
    return life.read.flatMap(({ messages }) =>
      messages.flatMap(({ id, params }) => {
        const { key } = (params?.["arguments"] ?? params ?? {}) as { key?: unknown };
        return id !== undefined && id !== null && key === this.made.key ? [id] : [];
      })
    );
  }

  #settle(outcome: Outcome): void {
    if (this.outcome !== undefined) this.#world.complaints.push(`call ${this.made.key} has settled twice`);
    this.outcome = outcome;
  }

  #ask(): [method: string, params: Params] {
    const { key, plan, subject, odd: name, padding } = this.made;
    const args = { key, plan, secret: SECRET + "p".repeat(padding) };
    switch (subject) {
      case "tool":
        return ["tools/call", { name: "act", arguments: args }];
      case "raw":
        return ["x/act", args];
      case "list":
        return ["tools/list", { key }];
      case "read":
        return ["resources/read", { uri: plan.sync ? "x://a" : `x://odd/${name}` }];
      case "prompt":
        return ["prompts/get", { name: "odd", arguments: { name } }];
      case "unknown":
        return ["x/none", { key }];
      case "bad_tool":
        return ["tools/call", { name: plan.sync ? "strict" : "none", arguments: { key } }];
      case "odd_params":
        return ["x/odd", odd(name) as Params];
    }
  }

  #options(): RequestOptions {
    const { onProgress, onLog, signal, ...plain } = this.made.options;
    const callback = (kind: Callback) => (): void => {
      if (this.outcome !== undefined) {
        this.#world.complaints.push(`call ${this.made.key} hears after its end`);
      }
      return this.#world.act(kind) as void;
    };
    return {
      ...plain,
      ...(onProgress === "none" ? {} : { onProgress: callback(onProgress) }),
      ...(onLog === "none" ? {} : { onLog: callback(onLog) }),
      ...(this.signal === undefined ? {} : { signal: this.signal.controller.signal }),
      ...(signal === "shared" ? { signal: this.#world.shared.controller.signal } : {}),
    };
  }
}
