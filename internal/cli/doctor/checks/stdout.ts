/** OUT: every line of every process is looked at, by its bytes and by what JSON-RPC asks of a message. */

import {
  type Check,
  group,
  lineEvidence,
  type Watched,
  type WatchedLine,
  watchedLines,
  watchRow,
} from "../check.ts";
import type { Conversation } from "../conversation.ts";
import { lookOf } from "../line_look.ts";
import { idKey, isAnswer, isObject, type LineFault, type RawLine } from "../raw_line.ts";
import { listed, show } from "../shown.ts";
import { fail, type Finding, type Make, note, pass, warn, worstOf } from "../verdict.ts";

const STDIO = { page: "basic/transports/stdio" } as const;
const UTF8 = { page: "RFC 8259", heading: "8.1" } as const;
const RESPONSES = { page: "basic/index", heading: "Responses" } as const;

/** Looks at the lines of which something holds; `most` of them are shown. */
function watchLines(
  holds: (line: RawLine, talk: Conversation) => boolean,
  say: (found: readonly [WatchedLine, ...WatchedLine[]]) => Finding,
  most = 3,
): (watched: Watched) => Finding {
  return (watched) => {
    const [first, ...others] = [...watchedLines(watched)].filter(({ line, talk }) => holds(line, talk));
    if (first === undefined) return pass("");
    return { ...say([first, ...others]), evidence: [first, ...others].slice(0, most).map(lineEvidence) };
  };
}

function count(found: readonly unknown[], what: string): string {
  return found.length === 1 ? `1 ${what}` : `${found.length} ${what}s`;
}

function hasFault(fault: LineFault, say: Make, what: string): (watched: Watched) => Finding {
  return watchLines(({ faults }) => faults.has(fault), (found) => say(`${count(found, "line")} ${what}`));
}

/** Whether it is a line of a batch that was asked for by one. */
function isBatchAnswer(line: RawLine, talk: Conversation): boolean {
  return line.kind === "batch" && talk.sent.some((text) => text.startsWith("["));
}

export const STDOUT: readonly Check[] = group("stdout", [
  watchRow({
    id: "OUT-01",
    level: "MUST",
    title: "every line is one JSON-RPC message",
    place: STDIO,
    mend:
      "TS: console.log → console.error. Python: print(…, file=sys.stderr). Nothing but messages may go to stdout",
    watch: watchLines(
      (line, talk) => line.kind === "stray" || line.kind === "batch" && !isBatchAnswer(line, talk),
      (found) => {
        const looks = found.map(({ line }) =>
          line.why === "no JSON" ? lookOf(line.bytes).what : line.why ?? "a batch"
        );
        const checks = new Set(found.map(({ line }) => line.check));
        const are = found.length === 1 ? "is" : "are";
        const said = `${count(found, "line")} that ${are} no message`;
        return {
          ...fail(`${said} (${listed([...new Set(looks)])}), in ${listed([...checks])}`),
          mend: lookOf(found[0].line.bytes).mend,
        };
      },
    ),
  }),
  watchRow({
    id: "OUT-02",
    level: "MUST",
    title: "stdout is UTF-8",
    place: UTF8,
    mend:
      'Python on Windows: PYTHONUTF8=1 or sys.stdout.reconfigure(encoding="utf-8"); Java: new PrintStream(out, true, UTF_8)',
    watch: hasFault("not_utf8", fail, "with bytes that are no UTF-8"),
  }),
  watchRow({
    id: "OUT-03",
    level: "MUST",
    title: "no byte order mark",
    place: UTF8,
    mend: ".NET: new UTF8Encoding(false)",
    watch: hasFault("bom", fail, "with a byte order mark"),
  }),
  watchRow({
    id: "OUT-04",
    level: "ADVICE",
    title: "LF alone ends a line",
    place: STDIO,
    mend: '.NET: NewLine = "\\n"; Python on Windows: sys.stdout.reconfigure(newline="\\n")',
    watch: hasFault("cr", note, "with CR before the LF"),
  }),
  watchRow({
    id: "OUT-05",
    level: "SHOULD",
    title: "no blank lines",
    place: STDIO,
    mend: "look for a bare console.log() or print(), or a second newline behind a message",
    watch: watchLines(({ kind }) => kind === "blank", (found) => warn(count(found, "blank line")), 2),
  }),
  watchRow({
    id: "OUT-06",
    level: "MUST",
    title: "the last line is ended and whole",
    place: STDIO,
    mend:
      "TS: no process.exit() behind a write: set process.exitCode, or exit in the write's callback. Python: flush before os._exit",
    watch: ({ talks }) =>
      worstOf(
        talks.filter(({ process }) => process.rest.length > 0 && !process.mayBeCut).map((talk) => {
          const say = talk.process.checks.includes("END-03") ? warn : fail;
          const shown = { ...talk.evidence(), got: show(talk.process.rest.subarray(-80)) };
          return say(`${talk.process.rest.length} bytes without an LF stand at the end of the output`, shown);
        }),
      ),
  }),
  watchRow({
    id: "OUT-07",
    level: "MUST",
    title: "no requests that the client cannot take",
    place: { page: "basic/transports/stdio", heading: "Receiving Messages" },
    legacyPlace: { page: "basic/lifecycle", heading: "Operation" },
    mend:
      'ask only for what the client has declared; since 2026-07-28 return resultType "input_required" instead of asking',
    watch: watchLines(
      (line, talk) => line.kind === "request" && !isAllowedRequest(line, talk),
      (found) => {
        const methods = new Set(found.map(({ line }) => String(line.message!["method"])));
        return fail(`it asks for ${listed([...methods])}`);
      },
    ),
  }),
  watchRow({
    id: "OUT-07b",
    level: "SHOULD",
    eras: "legacy",
    title: "no request before the client is initialized",
    place: { page: "basic/lifecycle", heading: "Initialization" },
    mend: "wait for notifications/initialized before you ask the client anything but ping",
    watch: watchLines(
      (line, talk) =>
        line.kind === "request" && line.message!["method"] !== "ping" && isBeforeInitialized(line, talk),
      (found) => warn(count(found, "request")),
    ),
  }),
  watchRow({
    id: "OUT-07c",
    level: "MUST",
    title: "ids of the server's requests are strings or integers, and each another",
    place: { page: "basic/index", heading: "Requests" },
    mend: "count: 1, 2, 3 …",
    watch: (watched) => {
      const seen = new Map<Conversation, Set<string>>();
      return watchLines(
        (line, talk) => {
          if (line.kind !== "request") return false;
          const { id } = line.message!;
          const ids = seen.get(talk) ?? new Set();
          seen.set(talk, ids);
          const isTwice = ids.has(idKey(id));
          ids.add(idKey(id));
          return isTwice || typeof id !== "string" && !Number.isInteger(id);
        },
        () => fail("a request whose id is none, or came before"),
      )(watched);
    },
  }),
  watchRow({
    id: "OUT-08",
    level: "MUST",
    title: "responses have the shape of a response",
    place: RESPONSES,
    mend:
      '{"jsonrpc":"2.0","id":request.id,"result":{…}}: never both result and error; an error has an integer code and a message',
    watch: watchLines(
      (line) => isAnswer(line) && shapeFault(line) !== undefined,
      (found) => fail(listed([...new Set(found.map(({ line }) => shapeFault(line)!))])),
    ),
  }),
  watchRow({
    id: "OUT-09",
    level: "MUST",
    title: "each request is answered once, and nothing else is",
    place: RESPONSES,
    mend: "answer in one place; forget a request's id once it was answered",
    watch: ({ talks }) => worstOf(talks.flatMap(judgeBooks)),
  }),
  watchRow({
    id: "OUT-17",
    level: "ADVICE",
    title: "messages are compact",
    place: { page: "advice" },
    mend: 'json.dumps(x, separators=(",", ":")); JSON.stringify(x) is compact',
    watch: hasFault("loose", note, "of which over a fifth is white space"),
  }),
  watchRow({
    id: "OUT-18",
    level: "ADVICE",
    title: "no lone surrogates",
    place: { page: "advice" },
    mend: "text.toWellFormed(): readers in Rust and Python refuse the whole line",
    watch: watchLines(
      // Where the doctor has sent one, it may come back.
      ({ faults, check }) => faults.has("surrogate") && check !== "FRAME-09" && check !== "TOOL-05",
      (found) => note(`${count(found, "line")} with half of a surrogate pair`),
    ),
  }),
]);

/** `ping` is free in the legacy era; the doctor declares no capability for the rest. */
function isAllowedRequest(line: RawLine, talk: Conversation): boolean {
  return line.message!["method"] === "ping" && talk.era?.modern === false;
}

function isBeforeInitialized(line: RawLine, talk: Conversation): boolean {
  const initialized = talk.sent.findIndex((text) => text.includes('"notifications/initialized"'));
  return initialized === -1 || line.sentBefore <= initialized;
}

/** What is wrong with a response by itself. */
function shapeFault({ kind, message = {} }: RawLine): string | undefined {
  if (!("id" in message) && kind === "result") return "a result without an id";
  if (Object.keys(message).length === 1) return undefined; // Of a flood only the id was kept.
  if ("result" in message && "error" in message) return "both result and error";
  if (kind === "result") return isObject(message["result"]) ? undefined : "a result that is no object";
  const { error } = message;
  if (!isObject(error)) return "an error that is no object";
  if (!Number.isInteger(error["code"])) return "an error without an integer code";
  return typeof error["message"] === "string" ? undefined : "an error without a message";
}

/** Compares the answers of a conversation with what was asked in it. */
function judgeBooks(talk: Conversation): Finding[] {
  const findings: Finding[] = [];
  const asked = new Map<string, number>();
  for (const { id } of talk.asked) asked.set(idKey(id), (asked.get(idKey(id)) ?? 0) + 1);
  const came = new Map<string, number>();
  for (const line of talk.lines) {
    if (!isAnswer(line)) continue;
    const id = line.message!["id"];
    const key = idKey(id);
    const shown = lineEvidence({ talk, line });
    if (id === undefined || id === null) {
      if (line.kind === "result") findings.push(fail("a result with id null", shown));
      continue;
    }
    came.set(key, (came.get(key) ?? 0) + 1);
    if (talk.looseIds.has(key)) continue;
    if (!asked.has(key)) {
      findings.push(fail(`an answer to id ${show(key, 40)}, which nobody has asked`, shown));
    } else if (came.get(key)! > asked.get(key)!) findings.push(fail("two answers to one request", shown));
  }
  return findings;
}
