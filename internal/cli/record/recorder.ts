/** What passes to lines of a recording: cut, looked at, masked, put down. It holds nothing up and throws nothing back. */

import { maskSecrets } from "../../secrets.ts";
import { parseJson } from "../json_text.ts";
import { Conversation, type Side } from "../recording/conversation.ts";
import {
  formatBytes,
  formatEvent,
  formatHead,
  formatMessage,
  formatText,
  type LineMarks,
  type ProcessEvent,
  type Source,
  type StartEvent,
} from "../recording/format.ts";
import { maskMessage, mayHoldSecret } from "../recording/mask.ts";
import { LineCutter } from "./line_cutter.ts";

/** What a recorder needs. */
export interface RecorderSettings {
  /** Takes lines of the recording. */
  readonly write: (lines: string) => void;
  /** Whether secrets are left in. */
  readonly keepsSecrets: boolean;
}

/** A process event before it has its time. */
export type UntimedEvent = {
  [Kind in ProcessEvent["kind"]]: Omit<Extract<ProcessEvent, { kind: Kind }>, "t">;
}[
  ProcessEvent["kind"]
];

const PLAIN: LineMarks = { breaks: [], isMasked: false, isEnded: true };
const BYTE_ORDER_MARK = "\ufeff";

/** Writes down what passes. */
export class Recorder {
  readonly #settings: RecorderSettings;
  readonly #conversation = new Conversation();
  readonly #cutters: Readonly<Record<Source, LineCutter>>;
  /** The head of what comes with this chunk, and what has come of it so far. */
  #head = "";
  #at = 0;
  #lines = "";

  constructor(settings: RecorderSettings) {
    this.#settings = settings;
    this.#cutters = {
      client: this.#cutterOf("client"),
      server: this.#cutterOf("server"),
      stderr: new LineCutter({
        text: (text, isEnded) => this.#plainText(text, [], isEnded),
        bytes: (bytes, isEnded) => this.#plainBytes(bytes, [], isEnded),
      }),
    };
  }

  /** The first line. */
  start(event: Omit<StartEvent, "kind" | "t" | "recording">): void {
    this.#settings.write(formatEvent({ kind: "start", t: 0, recording: 1, ...event }));
  }

  /** Bytes have passed, so many milliseconds after the recording began. */
  take(from: Source, chunk: Uint8Array, at: number): void {
    this.#begin(from, at);
    this.#cutters[from].push(chunk);
    this.#flush();
  }

  /** No more bytes come from there. */
  end(from: Source, at: number): void {
    this.#begin(from, at);
    this.#cutters[from].end();
    this.#flush();
    this.event({ kind: "end", of: from }, at);
  }

  /** Something has happened. */
  event(event: UntimedEvent, at: number): void {
    this.#settings.write(formatEvent({ t: at, ...event } as ProcessEvent));
  }

  #begin(from: Source, at: number): void {
    this.#at = at;
    this.#head = formatHead(at, from);
  }

  #flush(): void {
    if (this.#lines === "") return;
    const lines = this.#lines;
    this.#lines = "";
    this.#settings.write(lines);
  }

  #cutterOf(side: Side): LineCutter {
    let isPiece = false;
    return new LineCutter({
      text: (text, isEnded) => {
        if (isPiece || !isEnded) this.#piece(side, text, isPiece, isEnded);
        else this.#line(side, text);
        isPiece = !isEnded;
      },
      bytes: (bytes, isEnded) => {
        const { breaks } = this.#conversation.fault(side, "bytes that are no UTF-8");
        this.#plainBytes(bytes, breaks, isEnded);
        isPiece = !isEnded;
      },
    });
  }

  /** A whole line of one side. */
  #line(side: Side, text: string): void {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.#plainText(text, this.#conversation.fault(side, faultOf(text)).breaks, true);
      return;
    }
    const { breaks } = this.#conversation.observe(this.#at, side, value);
    const all = text.endsWith("\r") ? [...breaks, "a carriage return before the line feed"] : breaks;
    if (!this.#settings.keepsSecrets && mayHoldSecret(value)) {
      const masked = maskMessage(text);
      if (masked !== text) return this.#masked(masked, all);
    }
    this.#lines += formatMessage(this.#head, text, all.length === 0 ? PLAIN : { ...PLAIN, breaks: all });
  }

  /** A mask that has made something else of JSON is put down as text. */
  #masked(text: string, breaks: readonly string[]): void {
    const marks = { breaks, isMasked: true, isEnded: true };
    const format = parseJson(text) === undefined ? formatText : formatMessage;
    this.#lines += format(this.#head, text, marks);
  }

  /** A piece of a line that is too long for anybody, or the end of one that has no line feed. */
  #piece(side: Side, text: string, isContinued: boolean, isEnded: boolean): void {
    const problem = isEnded || isContinued ? "more of a line that is too long" : "a line that has no end yet";
    this.#plainText(text, this.#conversation.fault(side, problem).breaks, isEnded);
  }

  #plainText(text: string, breaks: readonly string[], isEnded: boolean): void {
    const masked = this.#settings.keepsSecrets ? text : maskSecrets(text);
    this.#lines += formatText(this.#head, masked, { breaks, isMasked: masked !== text, isEnded });
  }

  /** In base64 a secret could be read: where they are masked, what is no UTF-8 is put down as text. */
  #plainBytes(bytes: Uint8Array, breaks: readonly string[], isEnded: boolean): void {
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    if (this.#settings.keepsSecrets || maskSecrets(text) === text) {
      this.#lines += formatBytes(this.#head, bytes, { breaks, isMasked: false, isEnded });
    } else this.#plainText(text, breaks, isEnded);
  }
}

function faultOf(text: string): string {
  if (/^[ \t\r]*$/.test(text)) return "a blank line";
  if (text.startsWith(BYTE_ORDER_MARK)) return "a byte order mark";
  return "text that is no JSON";
}
