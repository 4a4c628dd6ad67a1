/** Servers of the model that nobody of us has written: plain ones, and some of the oddest that people run. */

import { answerText, type HandlerWorld } from "./_model_handlers.ts";
import { type Life, type Message, writeQuietly } from "./_model_life.ts";
import type { Plan } from "./_model_schedule.ts";

const MODERN = "2026-07-28";

/** A server of a few lines. */
export class ForeignServer {
  readonly #life: Life;
  readonly #world: HandlerWorld;
  readonly #leave: () => void;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  #greetings = 0;

  constructor(life: Life, world: HandlerWorld, leave: () => void) {
    this.#life = life;
    this.#world = world;
    this.#leave = leave;
    this.#writer = life.streams.writable.getWriter();
    this.#writer.closed.catch(() => {}); // Whoever writes hears of it.
  }

  /** Answers until its input ends. */
  async run(): Promise<void> {
    const reader = this.#life.streams.readable.getReader();
    const decoder = new TextDecoder();
    let rest = "";
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const lines = (rest + decoder.decode(next.value, { stream: true })).split("\n");
      rest = lines.pop()!;
      for (const line of lines) this.#handle(JSON.parse(line) as Message);
    }
    this.#writer.close().catch(() => {}); // It may have been closed before.
  }

  #say(...messages: object[]): void {
    const text = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
    writeQuietly(this.#writer, text);
  }

  get #isModern(): boolean {
    return this.#life.inhabitant === "plain_modern";
  }

  #handle({ id, method, params = {} }: Message): void {
    if (method === undefined) return;
    const { inhabitant } = this.#life;
    if (inhabitant === "mute") return;
    if (id === undefined) {
      if (inhabitant === "answers_notifications") {
        this.#say({ id: null, error: { code: -32601, message: "Method not found" } });
      }
      return;
    }
    if (method === "server/discover" || method === "initialize") return this.#greet(id, method);
    if (method === "tools/call" || method === "x/act") {
      const { arguments: args = params, _meta: meta = {} } = params as {
        arguments?: { key?: number; plan?: Plan };
        _meta?: { progressToken?: unknown };
      };
      const { key, plan } = args as { key?: number; plan?: Plan };
      if (key === undefined || plan === undefined) return this.#answer(id, {});
      void this.#act(id, key, plan, meta.progressToken);
    } else if (method === "subscriptions/listen" && this.#isModern) this.#acknowledge(id, params);
    else if (/^(tools|prompts|resources)\/(list|subscribe|unsubscribe)$/.test(method)) {
      this.#answer(id, { tools: [] });
    } else this.#say({ id, error: { code: -32601, message: "Method not found" } });
  }

  #greet(id: string | number | null, method: string): void {
    const { inhabitant } = this.#life;
    this.#greetings++;
    if (method === "server/discover") {
      if (inhabitant === "silent_probe") return;
      if (inhabitant === "dies_at_probe") return this.#leave();
      if (this.#isModern) {
        const capabilities = { tools: {}, resources: { subscribe: true } };
        return this.#answer(id, { supportedVersions: [MODERN], capabilities });
      }
      return this.#say({ id, error: { code: -32601, message: "Method not found" } });
    }
    if (this.#isModern) {
      const data = { supported: [MODERN], requested: "x" };
      return this.#say({ id, error: { code: -32022, message: "Unsupported protocol version", data } });
    }
    if (inhabitant === "counts_greetings" && this.#greetings > 1) {
      return this.#say({ id, error: { code: -32600, message: "Server already initialized" } });
    }
    const protocolVersion = inhabitant === "batches" ? "2025-03-26" : "2025-06-18";
    this.#answer(id, {
      protocolVersion,
      capabilities: { tools: {}, logging: {} },
      serverInfo: { name: "f", version: "1" },
    });
  }

  #acknowledge(id: string | number | null, params: { readonly [key: string]: unknown }): void {
    const _meta = { "io.modelcontextprotocol/subscriptionId": id };
    this.#say({
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: params["notifications"], _meta },
    }, { method: "notifications/tools/list_changed", params: { _meta } });
  }

  async #act(id: string | number | null, key: number, plan: Plan, token: unknown): Promise<void> {
    for (const action of plan.actions) {
      if (action.do === "wait") await this.#world.gate(key);
      if (action.do === "progress" && token !== undefined) {
        this.#say({
          method: "notifications/progress",
          params: { progressToken: token, progress: action.value },
        });
      }
      if (action.do === "ask") {
        this.#say({ id: `q${key}`, method: "elicitation/create", params: { message: "?" } });
      }
    }
    const { ending } = plan;
    if (ending === "never") return;
    if (ending === "protocol_error" || ending === "throw" || typeof ending === "object") {
      return this.#say({ id, error: { code: -32_603, message: "foreign" } });
    }
    this.#answer(id, { content: [{ type: "text", text: answerText(key) }] });
  }

  /** One that speaks 2025-03-26 answers in batches. */
  #answer(id: string | number | null, result: object): void {
    if (this.#life.inhabitant !== "batches" || this.#greetings === 0) {
      return this.#say({ id, result: this.#isModern ? { resultType: "complete", ...result } : result });
    }
    const line = JSON.stringify([
      { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "in a batch" } },
      { jsonrpc: "2.0", id, result },
    ]);
    const text = "protocolVersion" in result ? JSON.stringify({ jsonrpc: "2.0", id, result }) : line;
    writeQuietly(this.#writer, `${text}\n`);
  }
}
