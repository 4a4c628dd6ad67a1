import {
  isJSONObject,
  type JSONRPCMessage,
  MetaKey,
  type Params,
  type RequestId,
  type ServerCapabilities,
  type SubscriptionFilter,
} from "../../messages.ts";
import type { RawId } from "../framing/message_encoder.ts";
import type { Identified } from "./id_table.ts";
import { Receiver } from "./outbox.ts";
import { invalidParams } from "./wire_errors.ts";

/** What can be published, and the member of the filter that asks for it. */
const PUBLICATIONS: ReadonlyMap<string, keyof SubscriptionFilter> = new Map([
  ["notifications/tools/list_changed", "toolsListChanged"],
  ["notifications/prompts/list_changed", "promptsListChanged"],
  ["notifications/resources/list_changed", "resourcesListChanged"],
  ["notifications/resources/updated", "resourceSubscriptions"],
]);

/** One open `subscriptions/listen` request (rule V9). It makes messages and sends none. */
export class ListenStream implements Identified {
  readonly id: RequestId;
  readonly key: RequestId;
  readonly wireId: RequestId | RawId;
  /** What the server can deliver of what was asked for. */
  readonly filter: SubscriptionFilter;
  readonly receiver: Receiver = new Receiver();
  readonly #uris: ReadonlySet<string>;
  #phase: "opening" | "open" | "ended" = "opening";

  /**
   * Makes one for what the server can deliver of what is asked.
   *
   * @throws {ProtocolError} -32602 if the params hold no filter.
   */
  constructor(
    { id, key }: Identified,
    wireId: RequestId | RawId,
    params: Params,
    capabilities: ServerCapabilities,
  ) {
    this.id = id;
    this.key = key;
    this.wireId = wireId;
    this.filter = narrowFilter(readFilter(params), capabilities);
    this.#uris = new Set(this.filter.resourceSubscriptions);
  }

  /** Whether its acknowledgment is still to be written. */
  get opening(): boolean {
    return this.#phase === "opening";
  }

  /** Whether its client no longer wants it. */
  get ended(): boolean {
    return this.#phase === "ended";
  }

  /** What it is told first. */
  get acknowledgment(): JSONRPCMessage {
    return {
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { ...stamp({}, this.wireId), notifications: this.filter },
    };
  }

  /** Gives the acknowledgment for sending: publications follow it, and none comes before (subscriptions page). */
  acknowledge(): JSONRPCMessage {
    this.#phase = "open";
    return this.acknowledgment;
  }

  /** Nothing more is said to it. */
  end(): void {
    this.#phase = "ended";
  }

  /** Whether it asked for a publication. */
  wants(method: string, params: Params | undefined): boolean {
    const member = PUBLICATIONS.get(method);
    if (member === undefined || this.#phase !== "open") return false;
    return member === "resourceSubscriptions"
      ? this.#uris.has(String(params?.uri))
      : this.filter[member] === true;
  }

  /** A publication as it goes to this stream. */
  stamped(method: string, params: Params | undefined): JSONRPCMessage {
    return { jsonrpc: "2.0", method, params: stamp(params ?? {}, this.wireId) };
  }

  /** What ends it because the server ends: its result, then the cancellation (rule V11). */
  farewell(resultOf: (result: Params) => Params): JSONRPCMessage[] {
    const requestId = this.wireId as RequestId;
    return [
      { jsonrpc: "2.0", id: requestId, result: resultOf(stamp({}, this.wireId)) },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, reason: "server shutdown" } },
    ];
  }
}

/** Whether a notification goes only to those who listen for it. */
export function isPublication(method: string): boolean {
  return PUBLICATIONS.has(method);
}

/**
 * Checks that something can be published.
 *
 * @throws {TypeError} If it cannot.
 */
export function checkPublication(method: string, params: Params | undefined): void {
  const member = PUBLICATIONS.get(method);
  if (member === undefined) {
    throw new TypeError(
      `Cannot publish "${method}": only ${[...PUBLICATIONS.keys()].join(", ")} can be published`,
    );
  }
  if (member === "resourceSubscriptions" && typeof params?.uri !== "string") {
    throw new TypeError(`Cannot publish "${method}": "uri" must be a string`);
  }
}

/** Whether the server has declared that it publishes something. */
export function isDeclared(method: string, { tools, prompts, resources }: ServerCapabilities): boolean {
  switch (PUBLICATIONS.get(method)) {
    case "toolsListChanged":
      return tools?.listChanged === true;
    case "promptsListChanged":
      return prompts?.listChanged === true;
    case "resourcesListChanged":
      return resources?.listChanged === true;
    case "resourceSubscriptions":
      return resources?.subscribe === true;
    default:
      return false;
  }
}

function readFilter(params: Params): SubscriptionFilter {
  const { notifications } = params;
  if (!isJSONObject(notifications)) throw invalidParams(`"notifications" is not an object`);
  for (const member of PUBLICATIONS.values()) {
    const value = notifications[member];
    if (value === undefined) continue;
    if (member === "resourceSubscriptions") {
      if (!Array.isArray(value) || value.some((uri) => typeof uri !== "string")) {
        throw invalidParams(`"notifications.${member}" is not an array of strings`);
      }
    } else if (typeof value !== "boolean") {
      throw invalidParams(`"notifications.${member}" is not a boolean`);
    }
  }
  return notifications as SubscriptionFilter;
}

/** What is asked for and declared; members that are not known are left out. */
function narrowFilter(filter: SubscriptionFilter, capabilities: ServerCapabilities): SubscriptionFilter {
  const narrow: SubscriptionFilter = {};
  for (const [method, member] of PUBLICATIONS) {
    if (!filter[member] || !isDeclared(method, capabilities)) continue;
    if (member === "resourceSubscriptions") narrow[member] = filter.resourceSubscriptions;
    else narrow[member] = true;
  }
  return narrow;
}

/** Params or a result that name their stream. */
function stamp(params: Params, wireId: RequestId | RawId): Params {
  return { ...params, _meta: { ...(params._meta as Params | undefined), [MetaKey.subscriptionId]: wireId } };
}
