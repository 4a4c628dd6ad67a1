/** `replay`: says what a recording's client said to a server again, and tells what it answers otherwise. */

import { isJSONObject, type JSONObject } from "../../../messages.ts";
import { quoteText } from "../../shown_text.ts";
import { parseDurationMs } from "../arguments.ts";
import { EXIT, type ExitCode, type Invocation, UsageError } from "../command.ts";
import { type RawProcess, startRaw } from "../doctor/raw_process.ts";
import type { RawLine } from "../doctor/raw_line.ts";
import type { CliIo } from "../io.ts";
import { parseJson } from "../json_text.ts";
import { Conversation } from "../recording/conversation.ts";
import { maskMessage } from "../recording/mask.ts";
import { readRecordingFile } from "../recording/read_recording.ts";
import { resolveTarget, toLaunchSettings } from "../target.ts";
import {
  type Difference,
  findDifferences,
  readScript,
  type ReplayScript,
  type ScriptCall,
} from "./script.ts";
import { showOutcomes } from "./outcomes.ts";

/** So long an answer is awaited that the recording has. */
const DEFAULT_TIMEOUT = "10s";

const encoder = new TextEncoder();

/** What became of a request. */
export interface Outcome {
  readonly call: ScriptCall;
  /** `same`, `other`, `missing` where an answer came before and none comes now, `new` where it is the other way round. */
  readonly verdict: "same" | "other" | "missing" | "new" | "unanswered";
  readonly answer: JSONObject | undefined;
  readonly tookMs: number | undefined;
  readonly differences: readonly Difference[];
}

/** What came of the whole. */
export interface ReplayResult {
  readonly outcomes: readonly Outcome[];
  /** Lines of the server that break a rule, and what it is. */
  readonly breaks: ReadonlyArray<{ readonly line: string; readonly problem: string }>;
  /** Requests of the server that the recording has no answer to. */
  readonly unexpected: readonly string[];
  readonly exit: string;
}

/** Runs it. */
export async function runReplay(invocation: Invocation, io: CliIo): Promise<ExitCode> {
  const { options, words } = invocation;
  const [path = ""] = words;
  const { screen, runtime } = io;
  const timeoutMs = parseDurationMs("--timeout", options.value("timeout") ?? DEFAULT_TIMEOUT);
  const { events } = await readRecordingFile(path, "replay", io);
  const script = readScript(events);
  if (script.steps.length === 0) {
    throw new UsageError(`Cannot replay ${quoteText(path)}: the client says nothing in it`);
  }
  if (script.maskedLines > 0) {
    screen.warn(
      `secrets are masked in ${script.maskedLines} of the lines that are said: record with --keep-secrets`,
    );
  }
  const target = await resolveTarget(invocation, io);
  io.interrupted.throwIfAborted();
  screen.status(`starting ${target.commandLine}`);
  const launch = toLaunchSettings(target, { processGroup: true, stderr: "pipe" });
  const process = await startRaw({ launch, runtime, number: 1 });
  const giveUp = () => void process.close({ graceMs: 0 });
  // Ctrl-C may have come while the process was started.
  if (io.interrupted.aborted) giveUp();
  else io.interrupted.addEventListener("abort", giveUp, { once: true });
  const player = new Player(script, process, timeoutMs);
  try {
    await player.play((said) => screen.status(`replay … ${said} of ${script.steps.length} lines`));
  } finally {
    await process.close();
    io.interrupted.removeEventListener("abort", giveUp);
    screen.status("");
  }
  io.interrupted.throwIfAborted();
  const result = player.result(options.values("ignore"));
  showOutcomes(result, invocation.isJson, screen);
  // A server that answers nothing at all could not be used.
  const { outcomes } = result;
  const isUsed = outcomes.length === 0 ||
    outcomes.some(({ answer, call }) => answer !== undefined || call.answer === undefined);
  if (!isUsed) return EXIT.unusable;
  const isSame = outcomes.every(({ verdict }) => verdict === "same" || verdict === "unanswered");
  return isSame && result.breaks.length === 0 ? EXIT.ok : EXIT.no;
}

/** Says a script, and notes what comes. */
class Player {
  readonly #script: ReplayScript;
  readonly #process: RawProcess;
  readonly #timeoutMs: number;
  readonly #conversation = new Conversation();
  readonly #breaks: { line: string; problem: string }[] = [];
  readonly #unexpected: string[] = [];
  /** By place of the request: what came, and when it was asked. */
  readonly #answers: Array<{ askedAt: number; message?: JSONObject; tookMs?: number } | undefined> = [];
  /** How often the server has asked, by method. */
  readonly #asked = new Map<string, number>();

  constructor(script: ReplayScript, process: RawProcess, timeoutMs: number) {
    this.#script = script;
    this.#process = process;
    this.#timeoutMs = timeoutMs;
    process.onLine = (line) => this.#take(line);
  }

  /** Says line after line, each when what came before it in the recording has come. */
  async play(onStep: (said: number) => void): Promise<void> {
    const { steps, calls } = this.#script;
    for (const [index, { bytes, after, call }] of steps.entries()) {
      await this.#await(after);
      if (!this.#process.lives) return;
      onStep(index + 1);
      if (call !== undefined) this.#answers[call] = { askedAt: this.#process.now() };
      this.#observeOwn(bytes);
      await this.#process.write(bytes);
    }
    await this.#await(calls.flatMap(({ answer }, place) => answer === undefined ? [] : [place]));
  }

  result(ignored: readonly string[]): ReplayResult {
    const { step = "already", exit = null } = this.#process.end ?? {};
    const how = exit?.code !== undefined ? `exit code ${exit.code}` : exit?.signal ?? "no exit code";
    return {
      outcomes: this.#script.calls.map((call, place) => judge(call, this.#answers[place], ignored)),
      breaks: this.#breaks,
      unexpected: this.#unexpected,
      exit: step === "eof" || step === "already"
        ? how
        : `${how}, after ${step === "term" ? "SIGTERM" : "SIGKILL"}`,
    };
  }

  async #await(places: readonly number[]): Promise<void> {
    const isOver = () =>
      !this.#process.lives || places.every((place) => this.#answers[place]?.message !== undefined);
    await this.#process.until(isOver, this.#timeoutMs);
  }

  #observeOwn(bytes: Uint8Array): void {
    const value = parseJson(new TextDecoder().decode(bytes))?.value;
    if (isJSONObject(value) || Array.isArray(value)) {
      this.#conversation.observe(this.#process.now(), "client", value);
    } else this.#conversation.fault("client", "");
  }

  #take({ bytes, message, kind, at }: RawLine): void {
    const isMessage = message !== undefined && kind !== "stray" && kind !== "batch";
    const { breaks } = isMessage
      ? this.#conversation.observe(at, "server", message)
      : this.#conversation.fault("server", kind === "batch" ? "a batch" : "text that is no message");
    const line = new TextDecoder().decode(bytes);
    for (const problem of breaks) this.#breaks.push({ line, problem });
    if (!isMessage) return;
    if (kind === "request") this.#answer(message as JSONObject);
    else if (kind === "result" || kind === "error") this.#settle(message as JSONObject, at);
  }

  /** The oldest request of that id which has no answer yet. */
  #settle(message: JSONObject, at: number): void {
    const place = this.#script.calls.findIndex(({ id }, index) =>
      id === message.id && this.#answers[index] !== undefined && this.#answers[index]?.message === undefined
    );
    const asked = this.#answers[place];
    if (asked === undefined) return;
    asked.message = message;
    asked.tookMs = at - asked.askedAt;
  }

  /** Answers what the server asks as the client did when it was asked the same for the same time. */
  #answer({ id, method }: JSONObject): void {
    const name = String(method);
    const count = this.#asked.get(name) ?? 0;
    this.#asked.set(name, count + 1);
    const recorded = this.#script.answers.get(name)?.[count];
    if (recorded === undefined) this.#unexpected.push(name);
    const answer = recorded === undefined
      ? { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } }
      : { ...recorded, id };
    const bytes = encoder.encode(`${JSON.stringify(answer)}\n`);
    this.#observeOwn(bytes);
    void this.#process.write(bytes);
  }
}

function judge(
  call: ScriptCall,
  asked: { message?: JSONObject; tookMs?: number } | undefined,
  ignored: readonly string[],
): Outcome {
  const { answer: was } = call;
  const answer = asked?.message;
  const base = { call, answer, tookMs: asked?.tookMs };
  if (was === undefined || answer === undefined) {
    const verdict = was === answer ? "unanswered" : was === undefined ? "new" : "missing";
    // Which of the two is quicker, the answer or the cancellation, is luck.
    const isLuck = call.isCancelled && verdict !== "unanswered";
    return { ...base, verdict: isLuck ? "same" : verdict, differences: [] };
  }
  const is = call.isMasked ? JSON.parse(maskMessage(JSON.stringify(answer))) : answer;
  const differences = findDifferences(was, is, ignored);
  return { ...base, verdict: differences.length === 0 ? "same" : "other", differences };
}
