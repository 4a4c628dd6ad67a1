/** A raw conversation: lines that are sent, answers found by their ids, fences, and how it was opened. */

import { type Era, fenceMethod, initializeParams, requestOf, requestText } from "./era.ts";
import {
  at,
  idKey,
  isAnswer,
  isAnswerTo,
  isObject,
  type Members,
  objectAt,
  type RawLine,
} from "./raw_line.ts";
import type { EndReport, RawProcess } from "./raw_process.ts";
import { show, toBase64 } from "./shown.ts";
import type { Evidence } from "./verdict.ts";

/** A request that was sent. */
export interface Asked {
  readonly id: unknown;
  readonly method: string;
  readonly params: unknown;
  /** Whether it is a valid request of the modern era. */
  readonly modern: boolean;
  /** Its line. */
  readonly text: string;
  /** How many lines had come when it was sent; its answer is none of those. */
  readonly from: number;
  readonly at: number;
  /** Whether it may be left unanswered, or be answered without its id: it is no proper request. */
  readonly loose: boolean;
}

/** A request, its answer if one came, and what a verdict on them stands on. */
export interface Exchange {
  readonly asked: Asked;
  readonly line: RawLine | undefined;
  readonly shown: Evidence;
}

/** The server has ended, or no longer answers. */
export class Ended extends Error {
  readonly evidence: Evidence;
  constructor(message: string, evidence: Evidence) {
    super(message);
    this.name = "Ended";
    this.evidence = evidence;
  }
}

/** A modern request is no longer answered by a result: something has changed the era. */
export class EraChanged extends Error {
  readonly evidence: Evidence;
  constructor(evidence: Evidence) {
    super("modern requests are no longer answered by a result");
    this.name = "EraChanged";
    this.evidence = evidence;
  }
}

const FIRST_FENCE = 1_000_000;
/** So long an exit may come after the end of output, in milliseconds. */
const EXIT_MS = 500;
const encoder = new TextEncoder();

/** How a conversation waits. */
export interface Manners {
  /** The bound of an answer, in milliseconds. */
  readonly boundMs: number;
  /** Makes fences of strings, for servers that answer no integer. */
  readonly stringIds: boolean;
}

/** One conversation. */
export class Conversation {
  readonly process: RawProcess;
  /** The era it was opened in; undefined before that. */
  era: Era | undefined;
  /** Requests in the order of their sending. */
  readonly asked: Asked[] = [];
  /** Texts of lines as they were sent, cut. */
  readonly sent: string[] = [];
  /** Ids that may come back although nobody has asked properly: those of bad lines. */
  readonly looseIds: Set<string> = new Set();
  /** The capabilities that its first answer declares. */
  capabilities: Members = {};
  /** Resolves when the system has taken what was written last. */
  lastWrite: Promise<boolean> = Promise.resolve(true);
  /** The answer to what opened it. */
  opening: RawLine | undefined;
  readonly #manners: Manners;
  readonly #byId = new Map<string, Asked[]>();
  #fences = 0;
  #ids = 0;
  #sentTail = "";

  constructor(process: RawProcess, manners: Manners) {
    this.process = process;
    this.#manners = manners;
    process.onLine = (line) => this.#answerServer(line);
  }

  get lines(): readonly RawLine[] {
    return this.process.lines;
  }

  get boundMs(): number {
    return this.#manners.boundMs;
  }

  /** An id that nobody has used. */
  newId(): string | number {
    const count = ++this.#ids;
    return this.#manners.stringIds ? `doctor-${count}` : 1_000 + count;
  }

  /** Writes bytes; lines in them are kept for the evidence, and their ids for the books. */
  write(data: string | Uint8Array): Promise<boolean> {
    const bytes = typeof data === "string" ? encoder.encode(data) : data;
    this.book(typeof data === "string" ? data : new TextDecoder().decode(data));
    this.lastWrite = this.process.write(bytes);
    return this.lastWrite;
  }

  /** Sends a message as one line. */
  send(message: Members | string): Promise<boolean> {
    return this.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  }

  /** Sends a request of the era. */
  ask(
    method: string,
    params?: Members,
    { id = this.newId(), meta }: { id?: unknown; meta?: Members } = {},
  ): Asked {
    return this.askRaw(requestOf(this.#spoken, method, params, id, meta));
  }

  /** Sends a request as it is. */
  askRaw(request: Members): Asked {
    this.send(request);
    return this.asked.at(-1)!;
  }

  /** Sends `initialize`. */
  askInitialize(version: string, id: unknown = this.newId()): Asked {
    return this.askRaw({ jsonrpc: "2.0", id, method: "initialize", params: initializeParams(version) });
  }

  /** Sends so many requests in one write. */
  askMany(count: number): Asked[] {
    const from = this.asked.length;
    const texts = Array.from({ length: count }, () => requestText(this.#spoken, this.newId()));
    this.write(texts.map((text) => `${text}\n`).join(""));
    return this.asked.slice(from);
  }

  /** The first answer to a request, if it has come. */
  found(asked: Asked): RawLine | undefined {
    return this.lines.slice(asked.from).find((line) => isAnswerTo(line, asked.id));
  }

  /** The request that a line answers: the last one with its id that was sent before it came. */
  askedFor(line: RawLine): Asked | undefined {
    if (!isAnswer(line) || !("id" in line.message!)) return undefined;
    return this.#byId.get(idKey(line.message["id"]))?.findLast(({ from }) => from <= line.index);
  }

  /** Whether a request with the id was ever sent. */
  hasAsked(id: unknown): boolean {
    return this.#byId.has(idKey(id));
  }

  /** All answers to a request. */
  answers(asked: Asked): RawLine[] {
    return this.lines.slice(asked.from).filter((line) => isAnswerTo(line, asked.id));
  }

  /** Waits for the answer; undefined when none came within the bound or the process has ended. */
  async answer(asked: Asked, limitMs: number = this.boundMs): Promise<RawLine | undefined> {
    await this.process.until(() => this.found(asked) !== undefined || !this.process.lives, limitMs);
    const found = this.found(asked);
    // A process that has closed its output is about to end, and how is what is told next.
    if (found === undefined && this.process.outputEnded) await this.process.exitedWithin(EXIT_MS);
    return found;
  }

  /** Waits for the answer; gives it with what a verdict on it stands on. */
  async exchange(asked: Asked, limitMs?: number): Promise<Exchange> {
    const line = await this.answer(asked, limitMs);
    return { asked, line, shown: this.evidence({ sent: asked, line }) };
  }

  /** Waits for the answer or for two fences behind it: enough where silence is no fault. */
  async answerOrFences(asked: Asked): Promise<RawLine | undefined> {
    await this.settle();
    return this.found(asked);
  }

  /**
   * Proves that the server has read all that stands before, and lives.
   *
   * @throws {Ended} If it does not.
   * @throws {EraChanged} If a modern one is answered by an error.
   */
  async fence(limitMs: number = this.boundMs): Promise<RawLine> {
    const before = this.sent.at(-1);
    const asked = this.sendFence();
    const answer = await this.answer(asked, limitMs);
    if (answer === undefined) throw this.ended(before, limitMs);
    if (this.#spoken.modern && answer.kind !== "result") {
      throw new EraChanged(this.evidence({ sent: before, line: answer }));
    }
    return answer;
  }

  /** Sends a fence without waiting for it. */
  sendFence(): Asked {
    const count = FIRST_FENCE + this.#fences++;
    return this.ask(fenceMethod(this.#spoken), undefined, {
      id: this.#manners.stringIds ? `fence-${count}` : count,
    });
  }

  /** Two fences, one behind the other: answers may overtake each other. */
  async settle(): Promise<void> {
    await this.fence();
    await this.fence();
  }

  /** Why nothing more comes. */
  ended(sent: string | undefined, waitedMs: number): Ended {
    const { process } = this;
    const evidence = this.evidence({ sent });
    if (process.exit !== undefined) {
      return new Ended(`the process ended (${describeExit(process.exit)})`, {
        ...evidence,
        got: show(process.stderr.lastLines(3)) || undefined,
      });
    }
    if (process.outputEnded) return new Ended("it closed its stdout", evidence);
    const seconds = (waitedMs / 1_000).toFixed(1);
    return new Ended(`no answer to a ${fenceMethod(this.#spoken)} behind it within ${seconds} s`, {
      ...evidence,
      waitedMs,
    });
  }

  /** Opens the modern era: the probe, then a real request, or the probe alone. */
  async openModern(era: Era, listMethod: string | undefined): Promise<void> {
    this.era = era;
    await this.#open(this.ask("server/discover", undefined, { id: this.#firstId }));
    if (listMethod !== undefined) await this.answer(this.ask(listMethod));
  }

  /** Opens the legacy era. */
  async openLegacy(era: Era): Promise<void> {
    this.era = era;
    await this.#open(this.askInitialize(era.version, this.#firstId));
    await this.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  get #firstId(): string | number {
    return this.#manners.stringIds ? "1" : 1;
  }

  async #open(asked: Asked): Promise<void> {
    this.opening = await this.answer(asked);
    this.capabilities = objectAt(this.opening, "result", "capabilities");
  }

  /** Ends the process; its output is then complete. */
  close(options?: { graceMs?: number }): Promise<EndReport> {
    return this.process.close(options);
  }

  /** What a verdict stands on. */
  evidence({ sent, line, waitedMs }: {
    sent?: string | Asked | undefined;
    line?: RawLine | undefined;
    waitedMs?: number;
  } = {}): Evidence {
    const asked = typeof sent === "object" ? sent : undefined;
    return {
      process: this.process.number,
      check: line?.check ?? this.process.checks.at(-1),
      sent: sent === undefined ? undefined : show(asked?.text ?? sent as string),
      got: line === undefined ? undefined : show(line.bytes),
      gotBase64: line?.faults.has("not_utf8") ? toBase64(line.bytes) : undefined,
      ms: line === undefined || asked === undefined ? undefined : Math.round(line.at - asked.at),
      waitedMs,
    };
  }

  /** In the legacy era a server may ask, and would wait; in the modern one nobody may. */
  #answerServer({ kind, message }: RawLine): void {
    if (kind !== "request" || this.era?.modern !== false) return;
    const { id, method } = message!;
    const outcome = method === "ping"
      ? { result: {} }
      : { error: { code: -32601, message: "Method not found" } };
    this.send({ jsonrpc: "2.0", id, ...outcome });
  }

  get #spoken(): Era {
    if (this.era === undefined) throw new TypeError("Cannot ask: the conversation was not opened");
    return this.era;
  }

  /** Keeps the books of what is sent; a line may come in several writes. For who writes past `write`. */
  book(text: string): void {
    const parts = (this.#sentTail + text).split("\n");
    this.#sentTail = parts.pop()!;
    for (const line of parts) {
      this.sent.push(line.slice(0, 400));
      this.process.sentLines++;
      this.#book(line);
    }
  }

  #book(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      // A server may find the id in what it cannot parse.
      for (const [, id] of line.slice(0, 4_096).matchAll(/"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/g)) {
        this.looseIds.add(id!);
      }
      return;
    }
    for (const each of Array.isArray(message) ? message : [message]) {
      if (isObject(each) && "id" in each && !("result" in each) && !("error" in each)) {
        this.#bookRequest(each, line);
      }
    }
  }

  #bookRequest(message: Members, line: string): void {
    const { id, method, params } = message;
    const proper = message["jsonrpc"] === "2.0" && typeof method === "string" &&
      (typeof id === "string" || Number.isSafeInteger(id)) && (params === undefined || isObject(params));
    const asked: Asked = {
      id,
      method: String(method),
      params,
      modern: proper && isModern(params),
      text: line.slice(0, 400),
      from: this.lines.length,
      at: this.process.now(),
      loose: !proper,
    };
    this.asked.push(asked);
    const key = idKey(id);
    this.#byId.set(key, [...this.#byId.get(key) ?? [], asked]);
  }
}

/** `code 0`, `signal SIGTERM`. */
export function describeExit(
  exit: { code?: number | undefined; signal?: string | undefined } | null,
): string {
  if (exit === null) return "no status known";
  return exit.signal === undefined ? `code ${exit.code}` : `signal ${exit.signal}`;
}

function isModern(params: unknown): boolean {
  const meta = at(params, "_meta");
  return at(meta, "io.modelcontextprotocol/protocolVersion") === "2026-07-28" &&
    isObject(at(meta, "io.modelcontextprotocol/clientCapabilities"));
}
