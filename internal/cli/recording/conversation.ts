/**
 * What passes between a client and a server, put together: which answer belongs to which request, how each request ended, and
 * what breaks a rule as it passes. Pure, and used twice: `record` marks what passes, `show` draws it. What it keeps of
 * requests that are over is bounded.
 */

import { isJSONObject, isRequestId, type JSONObject, MetaKey, type RequestId } from "../../../messages.ts";
import { whatIsWrong } from "../../framing/message_rules.ts";
import { RecentMap } from "./recent_map.ts";

/** Who says something. */
export type Side = "client" | "server";

/** How a request ended, or that it has not: `failed` is a result that says so, `lost` was open when the server ended. */
export type CallState = "open" | "done" | "failed" | "error" | "cancelled" | "lost";

/** A request and what became of it. Times are those that were handed in. */
export interface Call {
  readonly from: Side;
  readonly id: RequestId;
  readonly method: string;
  /** What is called: the name of a tool or a prompt, a URI; empty without one. */
  readonly target: string;
  readonly progressToken: RequestId | undefined;
  readonly startedAt: number;
  endedAt: number | undefined;
  state: CallState;
  /** What the error or the failed result says, for people. */
  problem: string;
  progressCount: number;
  lastProgress: number;
  isAcknowledged: boolean;
  /** Its number among the requests of its side, and how many there were when it was cancelled. */
  readonly number: number;
  cancelledAfter: number;
}

/** What one message is. */
export interface Observation {
  /** The request that it is or belongs to. */
  readonly call: Call | undefined;
  readonly role: "request" | "answer" | "cancellation" | "progress" | "notification" | "batch" | "fault";
  /** What breaks a rule, in a few words each. */
  readonly breaks: readonly string[];
}

const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
const NOTHING: readonly string[] = [];
/** How many requests that are over are remembered, to know what comes late. */
const REMEMBERED = 10_000;
/** How many open requests are followed: a client that never gets an answer must not fill the memory. */
const MOST_OPEN = 100_000;

/** The requests that one side has made. */
class Requests {
  readonly open: Map<RequestId, Call> = new Map();
  readonly over: RecentMap<RequestId, Call> = new RecentMap(REMEMBERED);
  readonly tokens: Map<RequestId, Call> = new Map();
  readonly pastTokens: RecentMap<RequestId, Call> = new RecentMap(REMEMBERED);
  /** How many there have been, and the number of the last one that was answered. */
  made = 0;
  lastAnswered = 0;
  /** Whether there were more at once than are followed. */
  isIncomplete = false;

  /**
   * Whether the other side must have known that a request was cancelled: it has answered one that was made later. Before that
   * the cancellation and what comes for it may have crossed.
   */
  knewOfCancellation(call: Call): boolean {
    return call.state === "cancelled" && this.lastAnswered > call.cancelledAfter;
  }
}

/** A conversation as it goes on. */
export class Conversation {
  readonly #client = new Requests();
  readonly #server = new Requests();
  #isModern = false;
  #hasInitialized = false;
  /** The only revision with batches. */
  #hasBatches = false;
  /** A client that sent something unreadable may be told so without an id. */
  #hasFaulted = false;

  /** Takes a message as it was parsed. */
  observe(at: number, from: Side, value: unknown): Observation {
    if (Array.isArray(value)) return this.#observeBatch(at, from, value);
    const wrong = whatIsWrong(value);
    if (wrong !== undefined) return this.fault(from, `no JSON-RPC message: ${wrong}`);
    const message = value as JSONObject;
    if (typeof message.method !== "string") return this.#observeAnswer(at, from, message);
    return message.id === undefined || message.id === null
      ? this.#observeNotification(at, from, message.method, toParams(message.params))
      : this.#observeRequest(at, from, message.method, message.id as RequestId, toParams(message.params));
  }

  /** Takes a line that is no message. */
  fault(from: Side, problem: string): Observation {
    if (from === "client") this.#hasFaulted = true;
    return observed("fault", undefined, problem);
  }

  /** The server has ended: what is open stays so for ever. */
  end(at: number): void {
    for (const { open } of [this.#client, this.#server]) {
      for (const call of open.values()) {
        call.state = "lost";
        call.endedAt = at;
      }
      open.clear();
    }
  }

  #observeBatch(at: number, from: Side, values: readonly unknown[]): Observation {
    const breaks = this.#hasBatches ? [] : ["a batch, which the revision that is spoken does not have"];
    for (const value of values) {
      const inner = Array.isArray(value)
        ? this.fault(from, "a batch in a batch")
        : this.observe(at, from, value);
      breaks.push(...inner.breaks);
    }
    return { call: undefined, role: "batch", breaks };
  }

  #observeRequest(at: number, from: Side, method: string, id: RequestId, params: JSONObject): Observation {
    const requests = this.#madeBy(from);
    const breaks: string[] = [];
    const meta = toParams(params._meta);
    if (from === "client") this.#noteEra(method, meta, breaks);
    else if (this.#isModern && !this.#hasInitialized) {
      breaks.push("a request from the server, which this revision does not have");
    }
    if (requests.open.has(id)) breaks.push("an id that is in use");
    const progressToken = isRequestId(meta.progressToken) ? meta.progressToken : undefined;
    const call: Call = {
      from,
      id,
      method,
      target: targetOf(params),
      progressToken,
      startedAt: at,
      endedAt: undefined,
      state: "open",
      problem: "",
      progressCount: 0,
      lastProgress: -Infinity,
      isAcknowledged: false,
      number: ++requests.made,
      cancelledAfter: Infinity,
    };
    if (requests.open.size < MOST_OPEN) requests.open.set(id, call);
    else requests.isIncomplete = true;
    if (progressToken !== undefined) {
      if (requests.tokens.has(progressToken)) breaks.push("a progress token that is in use");
      if (requests.tokens.size < MOST_OPEN) requests.tokens.set(progressToken, call);
      else requests.isIncomplete = true;
    }
    return { call, role: "request", breaks };
  }

  #noteEra(method: string, meta: JSONObject, breaks: string[]): void {
    if (method === "initialize") this.#hasInitialized = true;
    else if (Object.hasOwn(meta, MetaKey.protocolVersion)) this.#isModern = true;
    else if (!this.#hasInitialized && method !== "ping") {
      breaks.push(`neither "initialize" before it nor a protocol version in its "_meta"`);
    }
  }

  #observeAnswer(at: number, from: Side, message: JSONObject): Observation {
    const requests = this.#madeBy(from === "client" ? "server" : "client");
    const id = message.id as RequestId | null | undefined;
    if (id === null || id === undefined) {
      const isExplained = from === "server" && this.#hasFaulted;
      const problem = isExplained ? undefined : "an error that names no request, and no line was unreadable";
      return observed("answer", undefined, problem);
    }
    const call = requests.open.get(id);
    if (call === undefined) return this.#observeLateAnswer(requests, requests.over.get(id));
    this.#settle(requests, call, at, message);
    return observed("answer", call);
  }

  #observeLateAnswer(requests: Requests, call: Call | undefined): Observation {
    const problem = call === undefined
      ? requests.isIncomplete ? undefined : "an answer to a request that was never made"
      : call.state === "cancelled"
      ? requests.knewOfCancellation(call) ? "an answer to a request that was cancelled" : undefined
      : "a second answer";
    return observed("answer", call, problem);
  }

  #settle(requests: Requests, call: Call, at: number, { result, error }: JSONObject): void {
    requests.lastAnswered = Math.max(requests.lastAnswered, call.number);
    if (isJSONObject(error)) {
      call.state = "error";
      call.problem = `${String(error.code)} ${String(error.message)}`;
    } else {
      const isFailed = isJSONObject(result) && result.isError === true;
      call.state = isFailed ? "failed" : "done";
      if (isFailed) call.problem = firstTextOf(result.content);
      if (call.method === "initialize" && isJSONObject(result)) {
        this.#hasBatches = result.protocolVersion === "2025-03-26";
      }
    }
    this.#close(requests, call, at);
  }

  #close(requests: Requests, call: Call, at: number): void {
    call.endedAt = at;
    requests.open.delete(call.id);
    requests.over.set(call.id, call);
    const { progressToken } = call;
    if (progressToken === undefined || requests.tokens.get(progressToken) !== call) return;
    requests.tokens.delete(progressToken);
    requests.pastTokens.set(progressToken, call);
  }

  #observeNotification(at: number, from: Side, method: string, params: JSONObject): Observation {
    switch (method) {
      case "notifications/cancelled":
        return this.#observeCancellation(at, from, params);
      case "notifications/progress":
        return this.#observeProgress(from, params);
      default:
        return this.#observePlain(from, method, params);
    }
  }

  #observeCancellation(at: number, from: Side, { requestId }: JSONObject): Observation {
    const id = requestId as RequestId;
    const own = this.#madeBy(from);
    const call = own.open.get(id);
    if (call !== undefined) {
      call.state = "cancelled";
      call.cancelledAfter = own.made;
      this.#close(own, call, at);
      const problem = call.method === "initialize" ? `"initialize" cannot be cancelled` : undefined;
      return observed("cancellation", call, problem);
    }
    // A server ends a listen stream by cancelling what the client asked.
    const theirs = this.#madeBy(from === "client" ? "server" : "client");
    const listen = theirs.open.get(id) ?? theirs.over.get(id);
    if (listen !== undefined && listen.method === "subscriptions/listen") {
      if (listen.state === "open") {
        listen.state = "cancelled";
        this.#close(theirs, listen, at);
      }
      return observed("cancellation", listen);
    }
    // The answer and the cancellation may have crossed.
    return observed("cancellation", own.over.get(id));
  }

  #observeProgress(from: Side, { progressToken, progress }: JSONObject): Observation {
    const requests = this.#madeBy(from === "client" ? "server" : "client");
    const token = progressToken as RequestId;
    const call = requests.tokens.get(token);
    if (call === undefined) {
      const past = requests.pastTokens.get(token);
      const problem = past === undefined
        ? requests.isIncomplete ? undefined : "progress for a token that no request gave"
        : past.state === "cancelled"
        ? requests.knewOfCancellation(past) ? "progress of a request that was cancelled" : undefined
        : "progress after the answer";
      return observed("progress", past, problem);
    }
    const isRising = typeof progress === "number" && progress > call.lastProgress;
    if (isRising) call.lastProgress = progress;
    call.progressCount++;
    return observed("progress", call, isRising ? undefined : "progress that does not rise");
  }

  #observePlain(from: Side, method: string, params: JSONObject): Observation {
    const id = toParams(params._meta)[MetaKey.subscriptionId];
    if (from === "client" || id === undefined) return observed("notification", undefined);
    const requests = this.#client;
    const call = requests.open.get(id as RequestId) ?? this.#findByText(String(id));
    if (call === undefined) {
      const over = requests.over.get(id as RequestId);
      const problem = over === undefined
        ? requests.isIncomplete ? undefined : "a notification of no stream"
        : over.state !== "cancelled" || requests.knewOfCancellation(over)
        ? "a notification of a stream that is over"
        : undefined;
      return observed("notification", undefined, problem);
    }
    call.isAcknowledged ||= method === ACKNOWLEDGED;
    const problem = call.isAcknowledged ? undefined : "a notification before the acknowledgment";
    return observed("notification", call, problem);
  }

  /** A subscription id is the request's id as text where the server makes text of it. */
  #findByText(id: string): Call | undefined {
    const number = Number(id);
    return Number.isSafeInteger(number) && String(number) === id ? this.#client.open.get(number) : undefined;
  }

  #madeBy(side: Side): Requests {
    return side === "client" ? this.#client : this.#server;
  }
}

function observed(role: Observation["role"], call: Call | undefined, problem?: string): Observation {
  return { call, role, breaks: problem === undefined ? NOTHING : [problem] };
}

function toParams(value: unknown): JSONObject {
  return isJSONObject(value) ? value : {};
}

function targetOf({ name, uri, ref }: JSONObject): string {
  const target = [name, uri, toParams(ref).name, toParams(ref).uri].find((value) =>
    typeof value === "string"
  );
  return typeof target === "string" ? target : "";
}

function firstTextOf(content: unknown): string {
  const blocks = Array.isArray(content) ? content : [];
  const block = blocks.find((candidate) => isJSONObject(candidate) && typeof candidate.text === "string");
  return isJSONObject(block) ? String(block.text) : "";
}
