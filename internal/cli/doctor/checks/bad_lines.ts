/** FRAME-06 and NOTE: what is no request is refused or passed over, and ends nothing. */

import { type Check, group, ownRow, sharedRow, type Trial } from "../check.ts";
import type { Conversation } from "../conversation.ts";
import { cancellation, type Era, NO_ID, requestOf } from "../era.ts";
import { codeOf, idKey, isAnswer, isNullAnswer, joinBytes, type Members, type RawLine } from "../raw_line.ts";
import { show } from "../shown.ts";
import { fail, type Finding, note, pass, warn } from "../verdict.ts";

const encoder = new TextEncoder();

interface BadLine {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Whether an answer with -32700 or -32600 is wanted. */
  readonly wantsAnswer?: boolean;
}

function badLines(era: Era): BadLine[] {
  const text = (name: string, line: string, wantsAnswer = false) => ({
    name,
    bytes: encoder.encode(`${line}\n`),
    wantsAnswer,
  });
  const { params } = requestOf(era, "x", undefined, 0) as { params?: unknown };
  const tail = params === undefined ? "" : `,"params":${JSON.stringify(params)}`;
  return [
    text("text", "hello", true),
    text("half an object", '{"jsonrpc":"2.0","id":1,"met', true),
    {
      name: "bytes that are no UTF-8",
      bytes: joinBytes([
        encoder.encode('{"jsonrpc":"2.0","id":"not-utf8","method":"doctor/'),
        Uint8Array.of(0xff, 0xfe),
        encoder.encode(`"${tail}}\n`),
      ]),
      wantsAnswer: true,
    },
    ...["42", "null", '"x"', "[]", "{}"].map((line) => text(line, line)),
    { name: "three NUL bytes", bytes: Uint8Array.of(0, 0, 0, 0x0a) },
    text(
      "two objects on one line",
      '{"jsonrpc":"2.0","id":"one","method":"doctor/a"}{"jsonrpc":"2.0","id":"two","method":"doctor/b"}',
    ),
    text("3 000 brackets", "[".repeat(3_000) + "]".repeat(3_000)),
    text("an object with __proto__", '{"__proto__":{"x":1},"constructor":1}'),
    text("600 nested objects", '{"a":'.repeat(600) + "1" + "}".repeat(600)),
    text("a lone brace", "}"),
  ];
}

export const BAD_LINES: readonly Check[] = group("frames", [sharedRow({
  id: "FRAME-06",
  level: "SHOULD",
  title: "a bad line ends nothing",
  place: { page: "JSON-RPC 2.0", heading: "Error object" },
  sends:
    "text, half an object, bytes that are no UTF-8, values that are no object, NUL, deep nesting …, a request behind each",
  mend:
    "try { JSON.parse(line) } catch { answer -32700 with id null } around one line, never around the loop",
  async run(talk, { era }) {
    const silent: string[] = [];
    let refusals = 0;
    for (const { name, bytes, wantsAnswer } of badLines(era)) {
      const from = talk.lines.length;
      talk.sent.push(name);
      talk.looseIds.add('"one"').add('"two"').add('"not-utf8"');
      await talk.write(bytes);
      await talk.settle();
      const answers = talk.lines.slice(from).filter((line) => isForBadLine(line, talk));
      const executed = answers.find(({ kind }) => kind === "result");
      if (executed !== undefined) {
        return warn(`${name}: it is answered by a result`, talk.evidence({ line: executed }));
      }
      const isRefused = answers.some((line) => [-32700, -32600, -32602].includes(codeOf(line)!));
      if (wantsAnswer === true && !isRefused) silent.push(name);
      if (isRefused) refusals++;
    }
    if (silent.length === 0) return pass(`it goes on behind each; ${refusals} were answered by errors`);
    return note(`it goes on behind each, but says no -32700 to ${silent.join(", ")}`);
  },
})]);

/** Whether a line is an answer to none of the requests in the books. */
function isForBadLine(line: RawLine, talk: Conversation): boolean {
  if (!isAnswer(line)) return false;
  const key = idKey(line.message!["id"]);
  return !talk.asked.some((asked) => !asked.loose && idKey(asked.id) === key && asked.from <= line.index);
}

export const NOTICES: readonly Check[] = group("notices", [
  ownRow({
    id: "NOTE-01",
    level: "MUST",
    eras: "each",
    quick: true,
    title: "a notification is never answered",
    place: { page: "basic/index", heading: "Notifications" },
    sends:
      "an unknown notification, with and without params; tools/list without an id; progress of an unknown token; " +
      "cancelled of an unknown id",
    mend: 'if (!("id" in message)) return; before the switch',
    run: (trial) =>
      sendNotifications(trial, fail, [
        { method: "notifications/doctor" },
        { method: "notifications/doctor", params: { a: 1 } },
        { method: "tools/list" },
        { method: "notifications/progress", params: { progressToken: "doctor-none", progress: 1 } },
        cancellation(NO_ID),
        ...trial.era.modern ? [] : [{ method: "notifications/initialized" }],
      ]),
  }),
  ownRow({
    id: "NOTE-02",
    level: "SHOULD",
    eras: "each",
    title: "a malformed notification is not answered either",
    place: { page: "JSON-RPC 2.0", heading: "Request object" },
    sends: "notifications with params null and []; cancelled with requestId [], null and without params",
    mend:
      "pass over what has no id, whatever its params are: some clients end the session at an error with id null",
    run: (trial) =>
      sendNotifications(trial, warn, [
        { method: "notifications/doctor", params: null },
        { method: "notifications/doctor", params: [] },
        cancellation([]),
        cancellation(null),
        { method: "notifications/cancelled" },
      ]),
  }),
]);

async function sendNotifications(
  trial: Trial,
  say: typeof fail,
  notifications: readonly Members[],
): Promise<Finding> {
  const talk = await trial.open();
  const sent: string[] = [];
  for (const each of notifications) {
    await talk.send({ jsonrpc: "2.0", ...each });
    sent.push(talk.sent.at(-1)!);
    await talk.fence();
  }
  await talk.settle();
  await trial.close(talk);
  const answer = talk.lines.find((line) => isForNobody(line, talk));
  if (answer === undefined) return pass(`${sent.length} were sent, none was answered`);
  // Behind each stimulus a fence was sent at once.
  const stimulus = sent.includes(talk.sent[answer.sentBefore - 1]!)
    ? talk.sent[answer.sentBefore - 1]!
    : talk.sent[answer.sentBefore - 2] ?? sent[0]!;
  return say(`${show(stimulus, 100)} was answered`, talk.evidence({ sent: stimulus, line: answer }));
}

/** Whether a line answers an id that is null, absent or was never sent. */
function isForNobody(line: RawLine, talk: Conversation): boolean {
  return isNullAnswer(line) || isAnswer(line) && !talk.hasAsked(line.message!["id"]);
}
