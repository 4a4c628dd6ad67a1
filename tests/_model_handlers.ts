/** What a server of ours offers in the model, and what its handlers do: as the plan that comes with a call says. */

import { ProtocolError } from "../errors.ts";
import type { Params, Result } from "../messages.ts";
import type { RequestContext, ServerOptions } from "../server.ts";
import { Server } from "../server.ts";
import type { Action, Config, Ending, Plan } from "./_model_schedule.ts";
import { odd, type OddName } from "./_model_values.ts";
import type { Life } from "./_model_life.ts";
import type { Logger } from "../logger.ts";
import type { Clock } from "../runtime.ts";

/** What handlers need of the world. */
export interface HandlerWorld {
  readonly clock: Clock;
  /** The calls whose handlers have begun, by {@linkcode runName}. */
  readonly begun: Set<string>;
  /** The steps in which handlers have ended last, however they did. */
  readonly ended: Map<string, number>;
  readonly step: number;
  /** Opens when the schedule says so. */
  gate(key: number): Promise<void>;
}

/** What must reach no log. */
export const SECRET = "S3CRET";

/** The text of a right answer. */
export function answerText(key: number): string {
  return `${SECRET} answer ${key}`;
}

/** The name of a call in a life of a server. */
export function runName(life: number, key: number): string {
  return `${life} ${key}`;
}

/** Makes a server that does what it is told. */
export function makeServer(
  config: Config,
  world: HandlerWorld,
  logger: Logger,
  life: Pick<Life, "index" | "inhabitant">,
): Server {
  const { maxInFlightRequests, maxQueuedRequests, maxQueuedBytes, maxLineBytes, readBufferBytes } = config;
  const act = (params: Params, context: RequestContext): unknown => {
    const { key, plan } = params as unknown as { key: number; plan: Plan };
    const name = runName(life.index, key);
    world.begun.add(name);
    const ended = (): void => void world.ended.set(name, world.step);
    if (!plan.sync) return perform(plan, key, context, server, world).finally(ended);
    try {
      return performNow(plan, key, context, server, world);
    } finally {
      ended();
    }
  };
  const options = {
    info: { name: "model", version: "1.0.0" },
    capabilities: { resources: { subscribe: true, listChanged: true } },
    tools: {
      act: { call: act },
      strict: { inputSchema: { type: "object", required: ["city"] }, call: () => "never called" },
    },
    resources: {
      "x://a": { read: () => "text" },
      "x://odd/{name}": { read: ({ name }: { name: string }) => odd(name as OddName) },
    },
    prompts: { odd: { get: ({ name }: { name?: string }) => odd(name as OddName) } },
    handlers: { "x/act": act, "x/odd": ({ name }: Params) => odd(name as OddName) },
    onNotification: (method: string) => {
      if (method === "notifications/throw") throw new Error("told");
      if (method === "notifications/reject") return Promise.reject(new Error("told"));
    },
    legacy: life.inhabitant === "ours_modern" ? "reject" : "serve",
    limits: { maxInFlightRequests, maxQueuedRequests, maxQueuedBytes, maxLineBytes, readBufferBytes },
    drainTimeoutMs: 100,
    pageSize: 2,
    traceFrames: config.traceFrames,
    logger,
    clock: world.clock,
  };
  const server: Server = new Server(options as unknown as ServerOptions);
  return server;
}

function performNow(
  plan: Plan,
  key: number,
  context: RequestContext,
  server: Server,
  world: HandlerWorld,
): unknown {
  for (const action of plan.actions) {
    const input = tell(action, context, server, world);
    if (input !== undefined) return input;
  }
  return finish(plan.ending, key, context);
}

async function perform(
  plan: Plan,
  key: number,
  context: RequestContext,
  server: Server,
  world: HandlerWorld,
): Promise<unknown> {
  for (const action of plan.actions) {
    if (action.do === "wait") await world.gate(key);
    else if (action.do === "sleep") {
      await new Promise<void>((resolve) => void world.clock.setTimeout(resolve, action.ms));
    } else if (action.do === "log" && action.awaits) await log(action, context);
    else if (action.do === "notify" && action.awaits) await notify(action, context);
    else if (action.do === "ask" && context.era === "legacy") {
      // What the client says to it changes nothing; a refusal is the handler's error.
      await context.requestInput("elicitation/create", questionOf(action) as Params);
    } else {
      const input = tell(action, context, server, world);
      if (input !== undefined) return input;
    }
  }
  return finish(plan.ending, key, context);
}

/** What needs no waiting. Gives a result if the request ends with it. */
function tell(
  action: Action,
  context: RequestContext,
  server: Server,
  world: HandlerWorld,
): unknown {
  switch (action.do) {
    case "progress":
      if (action.message === undefined) context.progress(action.value, 10);
      else context.progress(action.value, 10, odd(action.message) as string);
      return;
    case "log":
      // Whoever does not wait does not hear of it either.
      return void log(action, context).catch(() => {});
    case "notify":
      return void notify(action, context).catch(() => {});
    case "ask":
      if (context.era !== "modern" || context.inputResponses !== undefined) return;
      return {
        resultType: "input_required",
        inputRequests: { q: { method: "elicitation/create", params: questionOf(action) } },
        requestState: SECRET,
      };
    case "publish":
      return server.publish("notifications/resources/updated", { uri: "x://a" });
    case "define":
      if (!server.removeTool("extra")) server.addTool("extra", { call: () => "extra" });
      return;
    case "signal":
      return void context.signal.aborted;
    case "late":
      return void world.clock.setTimeout(() => {
        context.progress(1_000);
        void log({ do: "log", awaits: false }, context);
        void notify({ do: "notify", awaits: false }, context);
      }, 30);
    case "close":
      return void server.close();
    default:
      return;
  }
}

async function log(action: Action & { do: "log" }, context: RequestContext): Promise<void> {
  await context.log(
    "info",
    action.data === undefined ? { secret: SECRET, about: context.id } : odd(action.data),
  );
}

async function notify(action: Action & { do: "notify" }, context: RequestContext): Promise<void> {
  await context.notify(
    "notifications/x",
    action.params === undefined ? { about: context.id } : odd(action.params) as Params,
  );
}

function questionOf({ params }: Action & { do: "ask" }): unknown {
  return params === undefined ? { message: SECRET, requestedSchema: { type: "object" } } : odd(params);
}

function finish(ending: Ending, key: number, context: RequestContext): unknown {
  if (typeof ending === "object") {
    if ("odd" in ending) return odd(ending.odd);
    throw odd(ending.throws);
  }
  switch (ending) {
    case "ok":
      return { content: [{ type: "text", text: answerText(key) }] } satisfies Result;
    case "big":
      return {
        content: [{ type: "text", text: answerText(key) }],
        filler: "b".repeat(4_000),
      } satisfies Result;
    case "protocol_error":
      throw new ProtocolError(-32_000 - key, "planned");
    case "throw":
      throw new Error("planned");
    case "never":
      void context.signal;
      return new Promise(() => {});
  }
}
