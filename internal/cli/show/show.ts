/** `show`: a recording, in the terminal, as JSON, or as a page. */

import { quoteText } from "../../shown_text.ts";
import { EXIT, type ExitCode, type Invocation, UsageError } from "../command.ts";
import type { CliIo } from "../io.ts";
import type { RecordedEvent } from "../recording/format.ts";
import { maskMessage, maskText } from "../recording/mask.ts";
import { readRecordingFile } from "../recording/read_recording.ts";
import { type Selection, selectRows } from "./select.ts";
import { buildModel, countModel, type ShowModel } from "./model.ts";
import { showBars } from "./terminal_bars.ts";
import { showRows, showSummary } from "./terminal_rows.ts";

/** Runs it. */
export async function runShow(invocation: Invocation, io: CliIo): Promise<ExitCode> {
  const { options, words, isJson } = invocation;
  const [path = ""] = words;
  const model = await loadModel(path, options.has("keep-secrets"), io);
  const html = options.value("html");
  if (html !== undefined) await writePage(html, model, io);
  const selection: Selection = {
    onlyProblems: options.has("problems"),
    lanes: options.values("from"),
    methods: options.values("method"),
    text: options.value("grep"),
  };
  const rows = selectRows(model, selection);
  if (isJson) io.screen.json(toJson(model, rows));
  else if (html === undefined) {
    if (options.has("bars")) showBars(model, rows, io.screen);
    else showRows(model, rows, { isFull: options.has("full") }, io.screen);
    showSummary(model, io.screen);
  }
  return options.has("check") && hasProblem(model) ? EXIT.no : EXIT.ok;
}

/**
 * Reads a recording and masks what it still holds of secrets.
 *
 * @throws {UsageError} If it cannot be read or is none.
 */
export async function loadModel(path: string, keepsSecrets: boolean, io: CliIo): Promise<ShowModel> {
  const { events, unreadable } = await readRecordingFile(path, "show", io);
  return buildModel(keepsSecrets ? events : events.map(withoutSecrets), unreadable);
}

function withoutSecrets(event: RecordedEvent): RecordedEvent {
  if (event.kind !== "line" || event.isMasked) return event;
  const text = event.from === "stderr" ? maskText(event.text) : maskMessage(event.text);
  return text === event.text ? event : { ...event, text, bytes: undefined, isMasked: true };
}

async function writePage(path: string, model: ShowModel, io: CliIo): Promise<void> {
  const { formatPage } = await import("./page.ts");
  try {
    await io.files.writePrivate(path, await formatPage(model));
  } catch (cause) {
    throw new UsageError(`Cannot write ${quoteText(path)}: ${(cause as Error).message}`, { cause });
  }
  io.screen.note(`${quoteText(path)} is written: open it in a browser`);
}

function hasProblem({ bars, rows }: ShowModel): boolean {
  return bars.some(({ isProblem }) => isProblem) || rows.some(({ breaks }) => breaks.length > 0);
}

function toJson(model: ShowModel, rows: readonly number[]): unknown {
  const { start, durationMs, unreadable, bars } = model;
  const shown = new Set(rows);
  return {
    start: start ?? null,
    durationMs,
    unreadable,
    counts: countModel(model),
    requests: bars
      .filter((bar) => bar.rows.some((row) => shown.has(row)))
      .map(({ rows: _, id, ...bar }) => ({ id: JSON.parse(id), ...bar })),
    rows: rows.map((index) => model.rows[index]!),
  };
}
