/** What must hold of everything that has happened in a world, whatever it was. */

import {
  ConnectionClosedError,
  FrameError,
  InvalidResponseError,
  NegotiationError,
  ProcessError,
  ProtocolError,
  RequestTimeoutError,
} from "../errors.ts";
import type { ModelCall } from "./_model_call.ts";
import { answerText, runName, SECRET } from "./_model_handlers.ts";
import type { Life, Message, Seen } from "./_model_life.ts";
import type { Config } from "./_model_schedule.ts";
import type { World } from "./_model_world.ts";

/** Everything that is wrong, the worst first. */
export function judge(world: World): string[] {
  const isForeign = world.lives.some(({ inhabitant }) => !inhabitant.startsWith("ours"));
  return [
    ...world.complaints,
    ...world.calls.flatMap((call) => judgeCall(call, world.config, isForeign)),
    ...judgeConnecting(world),
    ...judgeClient(world),
    ...world.lives.flatMap((life) => life.inhabitant.startsWith("ours") ? judgeServer(life, world) : []),
    ...world.logged.filter(({ text }) => text.includes(SECRET)).slice(0, 1).map(({ text }) =>
      `the log holds what was in a frame: ${text.slice(0, 200)}`
    ),
  ];
}

/** A message with what is needed to tell when it passed. */
interface Frame {
  readonly message: Message;
  readonly step: number;
  readonly at: number;
}

function framesOf(lines: readonly Seen[]): Frame[] {
  return lines.flatMap(({ messages, step }, at) => messages.map((message) => ({ message, step, at })));
}

// Calls.

/** What is wrong with what became of a call; `isForeign` if a server may answer it that is not ours. */
export function judgeCall(call: ModelCall, config: Config, isForeign: boolean): string[] {
  try {
    return judgeOutcome(call, config, isForeign);
  } catch {
    return []; // What a user throws may be such that it cannot even be told what it is. Then it is the user's.
  }
}

function judgeOutcome(call: ModelCall, config: Config, isForeign: boolean): string[] {
  const { made: { key, subject, plan, options }, outcome } = call;
  if (outcome === undefined) return [`call ${key} has never settled`];
  if (outcome.kind === "result") {
    const isPlanned = (subject === "tool" || subject === "raw") &&
      (plan.ending === "ok" || plan.ending === "big");
    if (!isPlanned || call.isSpoilt || isForeign) return [];
    const { content, isError, resultType } = outcome.result as {
      content?: { text?: string }[];
      isError?: boolean;
      resultType?: string;
    };
    if (content?.[0]?.text === answerText(key)) return [];
    // What a handler does before it answers may fail, which is the tool's error; and a question may stay without an answer.
    const mayFail = plan.actions.some((action) => MAY_FAIL.has(action.do));
    if (mayFail && (isError === true || resultType === "input_required")) return [];
    return [`call ${key} got another's result: ${JSON.stringify(outcome.result).slice(0, 200)}`];
  }
  const { error } = outcome;
  if (outcome.kind === "thrown") {
    return subject === "odd_params" && isMisuse(error) ? [] : [`call ${key} has thrown ${nameOf(error)}`];
  }
  if (call.reason !== undefined && Object.is(error, call.reason.value)) return [];
  if (options.signal === "shared" && error === "shared") return [];
  if (isOfKind(error) || isByUser(error)) return [];
  if (isMisuse(error) && subject === "odd_params") return [];
  // What the user's own handler has given, or thrown, fails the call as it is.
  const isAsked = plan.actions.some((action) => action.do === "ask");
  if (isAsked && typeof config.inputHandler === "object") return [];
  return [`call ${key} (${subject}) has failed with ${nameOf(error)}`];
}

const MAY_FAIL: ReadonlySet<string> = new Set(["ask", "log", "notify", "progress"]);

const KINDS = [ProtocolError, RequestTimeoutError, ConnectionClosedError, InvalidResponseError, FrameError];

function isOfKind(error: unknown): boolean {
  return KINDS.some((kind) => error instanceof kind);
}

function isMisuse(error: unknown): boolean {
  return error instanceof TypeError || isByUser(error);
}

const BY_USER_REGEXP =
  /^(by the callback|by the handler|looked at|by then|Cannot answer "elicitation\/create".*)$/;

function isByUser(error: unknown): boolean {
  return error instanceof Error && BY_USER_REGEXP.test(error.message);
}

function judgeConnecting({ connected, config }: World): string[] {
  if (connected === "connected") return [];
  if (connected === "pending") return ["the client never came to be, nor not"];
  const { error } = connected;
  const isKnown = [NegotiationError, ProcessError, ...KINDS].some((kind) => error instanceof kind);
  const isAborted = error === "enough" || (error as Error).message === "by the signal";
  if (isKnown || isAborted) return [];
  return [`connecting (${config.mode}) has failed with ${nameOf(error)}`];
}

function nameOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.stack}` : String(error);
  } catch {
    return "what has no name";
  }
}

// What the client wrote.

function judgeClient(world: World): string[] {
  const wrongs: string[] = [];
  const ids = new Set<unknown>();
  const settledIn = new Map(world.calls.map(({ made, outcome }) => [made.key, outcome?.step ?? Infinity]));
  for (const life of world.lives) {
    const cancelled = new Set<unknown>();
    const asked = new Map<unknown, string>();
    const awaited = new Set(
      framesOf(life.written).flatMap(({ message: { id, method } }) => method === undefined ? [] : [id]),
    );
    for (const line of life.sent) {
      if (line.wrong !== undefined) wrongs.push(`the client wrote ${line.text.slice(0, 100)}: ${line.wrong}`);
      if (LONE_SURROGATE_REGEXP.test(line.text)) wrongs.push("the client wrote a lone surrogate");
    }
    for (const { message: { id, method, params }, step } of framesOf(life.sent)) {
      if (method === "notifications/cancelled") {
        const requestId = params?.["requestId"];
        const about = asked.get(requestId);
        if (about === undefined) wrongs.push(`the client cancelled ${requestId}, which it had not asked`);
        if (about === "initialize") wrongs.push("the client cancelled initialize");
        if (cancelled.has(requestId)) wrongs.push(`the client cancelled ${requestId} twice`);
        cancelled.add(requestId);
      } else if (method !== undefined && id !== undefined) {
        if (ids.has(id)) wrongs.push(`the client used the id ${id} twice`);
        ids.add(id);
        asked.set(id, method);
        const { key = -1 } = (params?.["arguments"] ?? params ?? {}) as { key?: number };
        if (step > (settledIn.get(key) ?? Infinity)) {
          wrongs.push(`the client asked for call ${key} after its end`);
        }
      } else if (method === undefined && life.inhabitant.startsWith("ours") && !life.isDisturbed) {
        if (!awaited.has(id) && !isPrinted(id)) {
          wrongs.push(`the client answered ${id}, which nobody had asked`);
        }
      }
    }
  }
  return wrongs;
}

const LONE_SURROGATE_REGEXP = /(?<!\\)(\\\\)*\\ud[89a-f]/;

/** Ids of requests that were printed between a server's lines. */
function isPrinted(id: unknown): boolean {
  return typeof id === "string" && /^[spq]\d+$/.test(id);
}

// What a server wrote.

function judgeServer(life: Life, world: World): string[] {
  const wrongs: string[] = [];
  for (const line of life.written) {
    if (line.wrong !== undefined && !isError(line.messages)) {
      wrongs.push(`the server wrote ${line.text.slice(0, 100)}: ${line.wrong}`);
    }
    if (LONE_SURROGATE_REGEXP.test(line.text)) wrongs.push("the server wrote a lone surrogate");
  }
  const read = framesOf(life.read);
  const written = framesOf(life.written);
  const responses = written.filter(({ message: { method } }) => method === undefined);
  const requests = read.filter(({ message: { id, method } }) =>
    method !== undefined && id !== undefined && id !== null
  );
  const cancelled = cancellationsOf(read);
  for (const { message: { id, method, params } } of requests) {
    const { key = -1 } = (params?.["arguments"] ?? params ?? {}) as { key?: number };
    const name = runName(life.index, key);
    const hasBegun = world.begun.has(name);
    const answers = responses.filter(({ message }) => message.id === id);
    if (answers.length > 1) wrongs.push(`the server answered ${id} (${method}) ${answers.length} times`);
    // A server that is closed reads no further, also of what it has been given in one piece.
    const isOwed = life.end === "eof" || life.end === "closed" && hasBegun;
    const wasSignalled = (world.processes[life.index]?.signals.length ?? 0) > 0;
    // A line that nests too deep, or an id that is too long, is answered without the id.
    const isBadLine = responses.some(({ message }) => message.id === null);
    const isLost = isBadLine || life.isDisturbed || life.isOutputLost || wasSignalled;
    if (answers.length === 0 && isOwed && !isLost && !cancelled.has(id) && !world.config.leavesAtOnce) {
      wrongs.push(`the server never answered ${id} (${method}); its run ended with ${life.end}`);
    }
    // What was answered before is not taken back, though it may still wait to leave.
    const cancelledStep = cancelled.get(id);
    const endedIn = hasBegun ? world.ended.get(name) ?? Infinity : -1;
    const cancelledIn = cancelledStep === undefined || endedIn <= cancelledStep ? undefined : cancelledStep;
    wrongs.push(...judgeRequest(id!, method!, params, answers[0], written, cancelledIn));
  }
  const known = new Set<unknown>(requests.map(({ message }) => message.id));
  for (const { message: { id } } of responses) {
    if (id !== null && id !== undefined && !known.has(id)) {
      wrongs.push(`the server answered ${id}, which nobody asked`);
    }
  }
  return wrongs;
}

function isError(messages: readonly Message[]): boolean {
  return messages.every(({ id, error }) => error !== undefined && (id === null || id === undefined));
}

/** By id: the step in which the cancellation was read. */
function cancellationsOf(read: readonly Frame[]): Map<unknown, number> {
  return new Map(
    read.flatMap(({ message: { method, params }, step }) =>
      method === "notifications/cancelled" ? [[params?.["requestId"], step] as const] : []
    ),
  );
}

/** The request that a message of a handler is about. */
function aboutOf({ method, params }: Message): unknown {
  if (method === "notifications/x") return params?.["about"];
  return method === "notifications/message"
    ? (params?.["data"] as { about?: unknown } | null)?.about
    : undefined;
}

function judgeRequest(
  id: string | number,
  method: string,
  params: Message["params"],
  answer: Frame | undefined,
  written: readonly Frame[],
  cancelledIn: number | undefined,
): string[] {
  const wrongs: string[] = [];
  const meta = params?.["_meta"] as { progressToken?: unknown } | undefined;
  let last = -Infinity;
  for (const { message, step, at } of written) {
    const isAnswer = message.method === undefined && message.id === id;
    const token = message.params?.["progressToken"];
    const isProgress = message.method === "notifications/progress" && token === id;
    const subscription = (message.params?.["_meta"] as Record<string, unknown> | undefined)
      ?.["io.modelcontextprotocol/subscriptionId"];
    const isEvent = subscription === id;
    const isSaid = aboutOf(message) === id;
    if (!isAnswer && !isProgress && !isEvent && !isSaid) continue;
    if (cancelledIn !== undefined && step > cancelledIn && method !== "initialize") {
      wrongs.push(
        `the server wrote for ${id} (${method}) after its cancellation: ${
          JSON.stringify(message).slice(0, 120)
        }`,
      );
    }
    if (isAnswer) continue;
    if (answer !== undefined && at > answer.at && message.method !== "notifications/cancelled") {
      wrongs.push(`the server wrote for ${id} after its answer: ${JSON.stringify(message).slice(0, 120)}`);
    }
    if (isProgress) {
      if (meta?.progressToken !== token) {
        wrongs.push(`the server told progress of ${id} that was not asked for`);
      }
      const progress = message.params?.["progress"] as number;
      if (progress <= last) wrongs.push(`progress of ${id} does not rise`);
      last = progress;
    }
  }
  return wrongs;
}
