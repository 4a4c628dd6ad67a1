/** FRAME: how bytes are taken for lines and lines for messages. */

import { type Check, group, ownRow, sharedRow, type Trial } from "../check.ts";
import { type Conversation, Ended } from "../conversation.ts";
import { cancellation, fenceMethod, NO_ID, requestOf, requestText } from "../era.ts";
import { codeOf, isNullAnswer } from "../raw_line.ts";
import { pauseFor, settles } from "../raw_process.ts";
import { showBytes } from "../shown.ts";
import { fail, type Finding, note, pass, warn } from "../verdict.ts";

const STDIO = { page: "basic/transports/stdio" } as const;
const JSON_PLACE = { page: "RFC 8259", heading: "2" } as const;
const encoder = new TextEncoder();
const MIB = 1_048_576;

/** Sends bytes that hold one request, and waits for its answer; it is in the books when its LF was written. */
async function sendOne(talk: Conversation, bytes: string, what: string): Promise<Finding> {
  await talk.write(bytes);
  return await judgeAnswer(talk, what);
}

/** Waits for the answer to what was sent last, and judges it. */
async function judgeAnswer(talk: Conversation, what: string): Promise<Finding> {
  const { line, shown } = await talk.exchange(talk.asked.at(-1)!);
  if (line === undefined) return fail(`no answer to ${what}`, shown);
  return line.kind === "result" ? pass(`${what} is answered`) : fail(`${what} is refused`, shown);
}

export const FRAMES: readonly Check[] = group("frames", [
  sharedRow({
    id: "FRAME-01",
    level: "MUST",
    title: "a message cut anywhere is one message",
    place: STDIO,
    sends: "a request with é and 😀 in its id, a byte a write; and one in two writes, cut inside of 😀",
    mend:
      'split bytes at 0A before you decode, or use a streaming decoder: TextDecoder with stream: true, setEncoding("utf8")',
    async run(talk, { era }) {
      const bytes = encoder.encode(`${requestText(era, "sp é😀", { "com.example/t": "ü€😀" })}\n`);
      for (const byte of bytes.subarray(0, -1)) await talk.process.write(Uint8Array.of(byte));
      const first = await sendRest(talk, bytes, bytes.length - 1, "a request in writes of one byte");
      if (first.verdict !== "pass") return first;
      const whole = encoder.encode(`${requestText(era, "cut 😀")}\n`);
      const at = whole.indexOf(0xf0) + 2;
      await talk.process.write(whole.subarray(0, at));
      await pauseFor(20); // So that the halves are read one after the other.
      return await sendRest(talk, whole, at, "a request that is cut inside of a character");
    },
  }),
  sharedRow({
    id: "FRAME-02",
    level: "MUST",
    title: "several messages in one write are several",
    place: STDIO,
    sends: "three requests, a notification and half of a fourth request in one write; then the other half",
    mend: "keep what stands behind the last LF for the next chunk; loop over the lines of a chunk",
    async run(talk, { era }) {
      const ids = ["joined-1", "joined-2", "joined-3", "joined-4"];
      const texts = ids.map((id) => requestText(era, id));
      const half = Math.floor(texts[3]!.length / 2);
      const cancelled = JSON.stringify(cancellation(NO_ID));
      talk.write(`${texts.slice(0, 3).join("\n")}\n${cancelled}\n${texts[3]!.slice(0, half)}`);
      const asked = talk.asked.slice(-3);
      for (const each of asked) {
        const line = await talk.answer(each);
        if (line === undefined) {
          talk.write(`${texts[3]!.slice(half)}\n`);
          return fail("of three requests in one write one is not answered", talk.evidence({ sent: each }));
        }
      }
      return await sendOne(
        talk,
        `${texts[3]!.slice(half)}\n`,
        "a request whose first half came behind others",
      );
    },
  }),
  sharedRow({
    id: "FRAME-03",
    level: "SHOULD",
    title: "CR LF ends a line",
    place: JSON_PLACE,
    sends: "a request that is ended by CR LF",
    mend: "CR is white space to JSON: split at LF and parse what is left",
    run: (talk, { era }) =>
      sendOne(talk, `${requestText(era, "cr-lf")}\r\n`, "a request that is ended by CR LF"),
  }),
  sharedRow({
    id: "FRAME-04",
    level: "ADVICE",
    title: "blank lines are passed over",
    place: { page: "advice" },
    sends: "LF; CR LF; three blanks and LF",
    mend: 'if (line.trim() === "") continue',
    async run(talk) {
      const from = talk.lines.length;
      await talk.write("\n\r\n   \n");
      await talk.settle();
      const answers = talk.lines.slice(from).filter((line) => line.kind === "error" && isNullAnswer(line));
      return answers.length === 0
        ? pass("nothing comes")
        : note(`blank lines are answered by errors (${answers.length})`, talk.evidence({ line: answers[0] }));
    },
  }),
  sharedRow({
    id: "FRAME-05",
    level: "ADVICE",
    title: "a byte order mark is passed over",
    place: { page: "RFC 8259", heading: "8.1" },
    sends: "EF BB BF in front of a request",
    mend: "some clients on Windows write one: drop EF BB BF at the start of a line",
    async run(talk, { era }) {
      talk.looseIds.add('"bom"');
      const text = requestText(era, "bom");
      await talk.write(`\ufeff${text}\n`);
      await talk.settle();
      const answer = talk.lines.findLast((line) => line.kind === "result" && line.message!["id"] === "bom");
      const shown = talk.evidence({ sent: `\ufeff${text}` });
      return answer === undefined
        ? note("a request behind a byte order mark is not answered", shown)
        : pass("the request is answered");
    },
  }),
  sharedRow({
    id: "FRAME-07",
    level: "SHOULD",
    title: "long lines are taken",
    place: STDIO,
    sends: "requests of 64 KiB, 1 MiB and 4 MiB",
    mend: "Python asyncio: limit= of StreamReader (64 KiB); Go: scanner.Buffer(nil, 16<<20) or bufio.Reader",
    async run(talk, { era }) {
      for (const size of [65_537, MIB, 4 * MIB]) {
        const text = `${requestText(era, `long-${size}`, { "com.example/pad": "é".repeat(size / 2) })}\n`;
        talk.write(text);
        const { line, shown } = await talk.exchange(talk.asked.at(-1)!, 2 * talk.boundMs);
        if (line?.kind !== "result") {
          return warn(`a line of ${showBytes(size)} is not answered by a result`, shown);
        }
      }
      return pass("up to 4 MiB");
    },
  }),
  sharedRow({
    id: "FRAME-09",
    level: "ADVICE",
    title: "an id with half a surrogate pair is answered",
    place: { page: "advice" },
    sends: 'an unknown method with the id "lone-\\ud83d", in ASCII',
    mend: "do not drop the line: answer with that id",
    async run(talk, { era }) {
      const { jsonrpc, method, params } = requestOf(era, "doctor/no-such-method", undefined, 0);
      const text = JSON.stringify({ jsonrpc, id: "lone-X", method, params }).replace(
        "lone-X",
        "lone-\\ud83d",
      );
      await talk.send(text);
      const asked = talk.asked.at(-1)!;
      const line = await talk.answerOrFences(asked);
      return line === undefined ? note("no answer", talk.evidence({ sent: asked })) : pass("it is answered");
    },
  }),
  sharedRow({
    id: "FRAME-10",
    level: "MUST",
    title: "JSON is JSON: order, blanks and escapes do not matter",
    place: JSON_PLACE,
    sends: "a request with its members in another order, tabs and blanks between them, and an escaped name",
    mend: "parse the line, do not search in it",
    async run(talk, { era }) {
      const { method, params } = requestOf(era, fenceMethod(era), undefined, 0);
      const shown = params === undefined ? "" : `"params" : ${JSON.stringify(params)} , `;
      const text = `\t{ ${shown}"\\u006dethod"\t: "${method}", "id":"ord" ,"jsonrpc":"2.0"} \n`;
      return await sendOne(talk, text, "it");
    },
  }),
  sharedRow({
    id: "FRAME-11",
    level: "MUST",
    title: "U+2028, U+2029 and U+0085 in a string end no line",
    place: STDIO,
    sends: "a request with these in its id, raw",
    mend: "split at byte 0A: no splitlines() in Python, no readline for text in JavaScript",
    run: (talk, { era }) => sendOne(talk, `${requestText(era, "a\u2028b\u2029c\u0085d")}\n`, "it"),
  }),
  ownRow({
    id: "FRAME-08",
    level: "ADVICE",
    most: "warn",
    eras: "each",
    title: "a line over any limit costs its request, not the session",
    place: { page: "advice" },
    sends: "a request of 17 MiB, and one behind it",
    mend: "pass over a line that is too long and answer its id with -32600; do not end",
    run: tooLong,
  }),
  ownRow({
    id: "FRAME-12",
    level: "ADVICE",
    title: "half a line is waited for",
    place: { page: "advice" },
    sends: "the first 40 bytes of a request, a second of nothing, then LF; then a whole request",
    mend: "a line is over at its LF, however long that takes",
    async run(trial) {
      const talk = await trial.open();
      const text = requestText(trial.era, "half");
      talk.looseIds.add('"half"');
      await talk.write(text.slice(0, 40));
      await pauseFor(1_000);
      await talk.write("\n");
      await talk.fence();
      return pass("the request behind it is answered");
    },
  }),
]);

/** Sends what stands behind the cut; the books get the whole line, although its parts were written apart. */
async function sendRest(talk: Conversation, bytes: Uint8Array, cut: number, what: string): Promise<Finding> {
  talk.book(new TextDecoder().decode(bytes));
  await talk.process.write(bytes.subarray(cut));
  return await judgeAnswer(talk, what);
}

async function tooLong(trial: Trial): Promise<Finding> {
  const { era } = trial;
  const talk = await trial.open();
  const pad = "x".repeat(17 * MIB);
  const written = talk.write(`${requestText(era, "huge", { "com.example/pad": pad })}\n`);
  const asked = talk.asked.at(-1)!;
  await settles(written, trial.bound(10_000));
  try {
    await talk.fence(trial.bound(10_000));
    await talk.fence();
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    await trial.close(talk);
    return warn(`a line of 17 MiB ends the session: ${error.message}`, error.evidence);
  }
  const line = talk.found(asked);
  if (line === undefined) {
    return note("a line of 17 MiB is passed over in silence", talk.evidence({ sent: asked }));
  }
  return pass(
    line.kind === "result"
      ? "a line of 17 MiB is served"
      : `a line of 17 MiB is refused with ${codeOf(line)}`,
  );
}
