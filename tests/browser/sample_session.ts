/** A session in which everything happens that the page can draw, at times of its own: for pictures and for tests. */

import { Recorder } from "../../internal/cli/record/recorder.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "desk", version: "4.2.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

const encoder = new TextEncoder();

/** Says the lines of a session. */
class Script {
  readonly #recorder: Recorder;
  /** What is said, at its time: it is written down in order of time, however it was said. */
  readonly #said: Array<readonly [at: number, say: () => void]> = [];
  text = "";

  constructor() {
    this.#recorder = new Recorder({ keepsSecrets: false, write: (lines) => (this.text += lines) });
    this.#recorder.start({
      at: "2026-11-30T09:12:44.218Z",
      by: "mcp-stdio",
      command: "node weather-server.js --region europe",
      pid: 4711,
      masked: true,
    });
  }

  line(at: number, from: "client" | "server" | "stderr", text: string): void {
    this.#said.push([at, () => this.#recorder.take(from, encoder.encode(`${text}\n`), at)]);
  }

  say(at: number, from: "client" | "server", message: Record<string, unknown>): void {
    this.line(at, from, JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  ask(at: number, id: number, method: string, params: Record<string, unknown> = {}): void {
    this.say(at, "client", { id, method, params: { ...params, _meta: { ...META, progressToken: id } } });
  }

  call(at: number, id: number, name: string, args: Record<string, unknown>): void {
    this.ask(at, id, "tools/call", { name, arguments: args });
  }

  answer(at: number, id: number, result: Record<string, unknown>): void {
    this.say(at, "server", { id, result: { resultType: "complete", ...result } });
  }

  tell(at: number, id: number, text: string, more: Record<string, unknown> = {}): void {
    this.answer(at, id, { content: [{ type: "text", text }], ...more });
  }

  progress(at: number, id: number, progress: number, total: number, message: string): void {
    this.say(at, "server", {
      method: "notifications/progress",
      params: { progressToken: id, progress, total, message },
    });
  }

  end(at: number): void {
    this.#said.push([
      at - 240,
      () => this.#recorder.event({ kind: "signal", signal: "SIGTERM", to: "server" }, at - 240),
    ]);
    for (const [, say] of this.#said.sort(([one], [other]) => one - other)) {
      say();
    }
    this.#recorder.end("server", at - 4);
    this.#recorder.end("stderr", at - 3);
    this.#recorder.event({ kind: "exit", signal: "SIGKILL" }, at);
  }
}

/** The text of the recording. */
export function makeSampleRecording(): string {
  const script = new Script();
  script.line(38, "stderr", "weather-server 2.3.1 listening on stdio");
  script.ask(52, 1, "server/discover");
  script.answer(96, 1, {
    supportedVersions: ["2026-07-28", "2025-11-25"],
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {} },
    ttlMs: 0,
    cacheScope: "private",
  });
  script.ask(101, 2, "tools/list");
  script.ask(101, 3, "prompts/list");
  script.answer(109, 2, {
    tools: ["get-forecast", "measure", "history", "station-report"].map((name) => ({
      name,
      inputSchema: { type: "object" },
    })),
  });
  script.answer(112, 3, { prompts: [] });
  script.ask(120, 4, "subscriptions/listen", { notifications: { toolsListChanged: true } });
  script.say(124, "server", {
    method: "notifications/subscriptions/acknowledged",
    params: {
      _meta: { "io.modelcontextprotocol/subscriptionId": "4" },
      notifications: { toolsListChanged: true },
    },
  });
  script.call(140, 5, "get-forecast", { city: "Bergen", days: 3 });
  script.call(141, 6, "get-forecast", { city: "Bangkok", days: 3 });
  script.call(141, 7, "history", { city: "Bergen", from: "1961-01-01", api_key: "wx-live-3f9a77c2b1" });
  script.tell(203, 5, "Bergen: rain, 9 °C\nBergen: rain, 8 °C\nBergen: rain, 9 °C");
  script.line(231, "stderr", "cache miss: forecast/bangkok");
  script.line(236, "server", "Loaded 12 entities in 4 ms");
  script.tell(348, 6, "Bangkok: sunny, 34 °C");
  script.tell(377, 7, "the archive needs a licence for dates before 1970", { isError: true });
  script.call(420, 8, "measure", { steps: 8 });
  for (let step = 1; step <= 8; step++) {
    script.progress(420 + step * 92, 8, step, 8, `sensor ${step} of 8`);
  }
  script.line(640, "stderr", "sensor 3: recalibrated");
  script.line(912, "stderr", "sensor 6: recalibrated");
  script.ask(505, 9, "resources/read", { uri: "weather://stations/oslo" });
  script.say(531, "server", {
    id: 9,
    error: { code: -32602, message: "Unknown resource: weather://stations/oslo" },
  });
  script.call(560, 10, "station-report", { station: "BGO" });
  script.call(702, 11, "history", { city: "Bangkok", from: "1990-01-01" });
  script.say(905, "client", {
    method: "notifications/cancelled",
    params: { requestId: 10, reason: "the user has closed the panel" },
  });
  script.ask(918, 15, "prompts/list");
  script.answer(931, 15, { prompts: [] });
  script.progress(960, 10, 1, 4, "late");
  script.tell(1_164, 8, "8 measurements taken");
  script.say(1_188, "server", {
    method: "notifications/tools/list_changed",
    params: { _meta: { "io.modelcontextprotocol/subscriptionId": "4" } },
  });
  script.ask(1_196, 12, "tools/list");
  script.answer(1_204, 12, { tools: [{ name: "get-forecast", inputSchema: { type: "object" } }] });
  script.tell(1_310, 11, "1990: 28.1 °C on average");
  script.call(1_350, 13, "station-report", { station: "OSL" });
  script.line(1_380, "stderr", "TypeError: Cannot read properties of undefined (reading 'pressure')");
  script.line(1_380, "stderr", "    at report (weather-server.js:211:17)");
  script.call(1_450, 14, "get-forecast", { city: "Oslo", days: 1 });
  script.tell(1_512, 14, "Oslo: snow, -3 °C");
  script.end(1_980);
  return script.text;
}

/** A recording of so many messages, as a long session makes it. */
export function makeLongRecording(messages: number): string {
  const script = new Script();
  let id = 0;
  for (let count = 0; count < messages; count += 2) {
    const at = 100 + count * 1.7;
    id++;
    script.call(at, id, ["get-forecast", "measure", "history"][id % 3]!, {
      city: `city ${id % 977}`,
      round: id,
    });
    if (id % 211 === 0) {
      script.say(at + 0.9, "server", { id, error: { code: -32603, message: "Internal error" } });
    } else if (id % 97 === 0) {
      script.tell(at + 1, id, "no such place", { isError: true });
    } else {
      script.tell(at + 1 + (id % 40), id, `Sunny in city ${id % 977}, ${id % 41} °C`);
    }
    if (id % 50 === 0) {
      script.line(at + 0.5, "stderr", `worker ${id % 4}: ${id} done`);
    }
  }
  script.end(200 + messages * 1.7 + 60);
  return script.text;
}
