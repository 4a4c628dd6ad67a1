/** REQ: requests and their ids. */

import { type Check, group, judgeCode, ownRow, sharedRow } from "../check.ts";
import type { Asked, Conversation } from "../conversation.ts";
import { cancellation, CLIENT_CAPABILITIES, type Era, fenceMethod, requestOf, requestText } from "../era.ts";
import { startMs } from "../facts.ts";
import { listed, show, showMs } from "../shown.ts";
import { fail, type Finding, note, pass, warn, worstOf } from "../verdict.ts";
import { callTool, needSlow } from "../tool_choice.ts";
import { idKey, isAnswer, isNullAnswer } from "../raw_line.ts";

const REQUESTS = { page: "basic/index", heading: "Requests" } as const;
const MANY = 64;
const FLOOD = 5_000;
const MIB = 1_048_576;

export const REQUESTS_TABLE: readonly Check[] = group("requests", [
  sharedRow({
    id: "REQ-01",
    level: "MUST",
    title: "the id comes back as it was",
    place: { page: "basic/index", heading: "Responses" },
    sends:
      'requests with the ids 0, -1, 7, "7", "", "é😀\\u2028x", 9007199254740991, 1 KiB of text, and one with escapes',
    mend: 'copy id as it is; test "id" in message, never message.id; no Number(id), no id || null',
    async run(talk, { era, facts }) {
      if (facts.stringIds) {
        return fail(
          "the id of the first answer came back as a string",
          talk.evidence({ line: talk.opening }),
        );
      }
      const ids = [0, -1, 7, "7", "", "é😀\u2028x", Number.MAX_SAFE_INTEGER, "a".repeat(1_024), 'x\ty"\\'];
      const wrong: Finding[] = [];
      for (const id of ids) {
        const from = talk.lines.length;
        const asked = talk.ask(fenceMethod(era), undefined, { id });
        const answer = await talk.answerOrFences(asked) ?? await talk.answer(asked, 500);
        if (answer !== undefined) continue;
        const other = talk.lines.slice(from).find((line) =>
          isAnswer(line) && !talk.hasAsked(line.message!["id"])
        );
        const what = other === undefined
          ? "is not answered"
          : `comes back as ${show(idKey(other.message!["id"]), 40)}`;
        wrong.push(
          fail(`id ${show(JSON.stringify(id), 40)} ${what}`, talk.evidence({ sent: asked, line: other })),
        );
      }
      return worstOf(wrong, pass(`${ids.length} ids came back as they were`));
    },
  }),
  sharedRow({
    id: "REQ-02",
    level: "ADVICE",
    title: "an integer beyond 2^53 is answered with its digits",
    place: { page: "advice" },
    sends: "a request with the id 9007199254740993",
    mend: "keep the id as the text it was, or refuse it with an error; do not be silent",
    async run(talk, { era }) {
      const text = requestText(era, "X").replace('"X"', "9007199254740993");
      const from = talk.lines.length;
      talk.looseIds.add("9007199254740992").add("9007199254740993");
      await talk.send(text);
      await talk.settle();
      const answer = talk.lines.slice(from).find((line) => line.text?.includes("900719925474099"));
      if (answer === undefined) return note("no answer", talk.evidence({ sent: text }));
      return answer.text!.includes("9007199254740993")
        ? pass("the digits come back")
        : note("the id comes back rounded", talk.evidence({ sent: text, line: answer }));
    },
  }),
  sharedRow({
    id: "REQ-03",
    level: "MUST",
    title: "an unknown method gets an error",
    place: { page: "JSON-RPC 2.0", heading: "Error object" },
    sends: "the method doctor/no-such-method",
    mend: "the default case answers -32601",
    async run(talk) {
      const { line, shown } = await talk.exchange(talk.ask("doctor/no-such-method"));
      if (line === undefined) return fail("no answer to an unknown method", shown);
      if (line.kind === "result") return fail("a result for an unknown method", shown);
      return judgeCode(line, [-32601], warn, shown);
    },
  }),
  sharedRow({
    id: "REQ-04",
    level: "ADVICE",
    most: "warn",
    title: "a request with id null is refused",
    place: REQUESTS,
    sends: "a request with id null",
    mend: "answer -32600 with id null",
    async run(talk, { era }) {
      const from = talk.lines.length;
      const asked = talk.askRaw(requestOf(era, fenceMethod(era), undefined, null));
      await talk.settle();
      const line = talk.lines.slice(from).find(isNullAnswer);
      const shown = talk.evidence({ sent: asked, line });
      if (line === undefined) return note("no answer to id null", shown);
      return line.kind === "result" ? warn("a result with id null", shown) : pass("refused");
    },
  }),
  sharedRow({
    id: "REQ-05",
    level: "ADVICE",
    title: "a request with id 1.5 is answered",
    place: REQUESTS,
    sends: "a request with id 1.5",
    mend: "answer -32600, or with the same id",
    async run(talk, { era }) {
      const from = talk.lines.length;
      const asked = talk.askRaw(requestOf(era, fenceMethod(era), undefined, 1.5));
      await talk.settle();
      const line = talk.lines.slice(from).find(isNullAnswer) ?? talk.found(asked);
      return line === undefined
        ? note("no answer to id 1.5", talk.evidence({ sent: asked }))
        : pass("answered");
    },
  }),
  sharedRow({
    id: "REQ-06",
    level: "ADVICE",
    title: "requests that are none are refused",
    place: { page: "JSON-RPC 2.0", heading: "Error object" },
    sends:
      'params that are an array and a string; no jsonrpc, "1.0"; a method that is 5, none; each with an id',
    mend: "answer -32600 with the id where it can be read: a caller would wait until its timeout",
    run: (talk, { era }) => sendMalformed(talk, era),
  }),
  sharedRow({
    id: "REQ-07",
    level: "ADVICE",
    title: "params null is answered",
    place: { page: "advice" },
    sends: "a legacy ping or modern tools/list with params null",
    mend: "take null for absent, or refuse it with -32602",
    async run(talk, { era }) {
      const asked = talk.askRaw({
        jsonrpc: "2.0",
        id: talk.newId(),
        method: era.modern ? "tools/list" : "ping",
        params: null,
      });
      const line = await talk.answerOrFences(asked);
      return line === undefined ? note("no answer", talk.evidence({ sent: asked })) : pass("answered");
    },
  }),
  sharedRow({
    id: "REQ-08",
    level: "MUST",
    title: "unknown members are let be",
    place: { page: "basic/index", heading: "_meta" },
    sends:
      "_meta with progressToken, com.example/x and traceparent; an unknown member in params; unknown capabilities",
    mend: 'no additionalProperties: false and no extra="forbid" on the envelope',
    async run(talk, { era }) {
      const meta = {
        progressToken: "doctor-unused",
        "com.example/x": { y: 1 },
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ...era.modern ? { [CLIENT_CAPABILITIES]: { experimental: { "com.example/z": {} }, doctor: {} } } : {},
      };
      const { line, shown } = await talk.exchange(talk.ask(fenceMethod(era), { doctor: true }, { meta }));
      if (line === undefined) return fail("no answer", shown);
      return line.kind === "result"
        ? pass("they are let be")
        : fail("refused for members it does not know", shown);
    },
  }),
  sharedRow({
    id: "REQ-09",
    level: "MUST",
    eras: "legacy",
    title: "params may be left out",
    place: REQUESTS,
    sends: "ping and the declared list requests without params",
    mend: "message.params?.cursor: params are optional",
    async run(talk) {
      const declared = ["tools", "resources", "prompts"].filter((name) => name in talk.capabilities);
      const methods = ["ping", ...declared.map((name) => `${name}/list`)];
      for (const method of methods) {
        const asked = talk.askRaw({ jsonrpc: "2.0", id: talk.newId(), method });
        const { line, shown } = await talk.exchange(asked);
        if (line?.kind === "result") continue;
        return fail(`${method} without params is ${line === undefined ? "not answered" : "refused"}`, shown);
      }
      return pass(listed(methods));
    },
  }),
  sharedRow({
    id: "REQ-10",
    level: "MUST",
    title: `${MANY} requests at once are all answered`,
    place: { page: "basic/patterns/index", heading: "Request and Response" },
    legacyPlace: { page: "JSON-RPC 2.0", heading: "Response object" },
    sends: `${MANY} requests in one write`,
    mend: "answer each line, whatever else is under way",
    async run(talk) {
      const asked = talk.askMany(MANY);
      const began = talk.process.now();
      await talk.process.until(
        () => asked.every((each) => talk.found(each) !== undefined) || !talk.process.lives,
        talk.boundMs,
      );
      await talk.fence();
      const missing = asked.filter((each) => talk.found(each) === undefined);
      const twice = asked.filter((each) => talk.answers(each).length > 1);
      if (missing.length > 0) {
        return fail(`${missing.length} of ${MANY} are not answered`, talk.evidence({ sent: missing[0] }));
      }
      if (twice.length > 0) {
        return fail(`${twice.length} of ${MANY} are answered twice`, talk.evidence({ sent: twice[0] }));
      }
      return pass(`all answered after ${showMs(talk.process.now() - began)}`);
    },
  }),
  sharedRow({
    id: "REQ-11",
    level: "ADVICE",
    most: "fail",
    title: `a flood of ${FLOOD} unknown notifications holds nothing up`,
    place: { page: "advice" },
    sends: `${FLOOD} unknown notifications in one write, and a request`,
    mend: "drop what is unknown at once",
    async run(talk, trial) {
      const from = talk.lines.length;
      const began = talk.process.now();
      talk.write('{"jsonrpc":"2.0","method":"notifications/doctor-flood"}\n'.repeat(FLOOD));
      const limitMs = 10 * startMs(trial.facts) + trial.bound(5_000);
      await talk.fence(3 * limitMs);
      const tookMs = talk.process.now() - began;
      await talk.fence();
      const answer = talk.lines.slice(from).find(isNullAnswer);
      if (answer !== undefined) {
        return fail("an unknown notification is answered", talk.evidence({ line: answer }));
      }
      return (tookMs > limitMs ? note : pass)(`a request behind them took ${showMs(tookMs)}`);
    },
  }),
  ownRow({
    id: "REQ-12",
    level: "ADVICE",
    title: "the same id twice in flight ends nothing",
    place: { page: "advice" },
    sends: "a slow call, and another request with its id",
    mend: "the client is wrong; refuse the second with -32600",
    async run(trial) {
      const slow = needSlow(trial);
      const talk = await trial.open();
      const call = callTool(talk, trial, slow, { id: "twice" });
      talk.looseIds.add('"twice"');
      talk.ask(fenceMethod(trial.era), undefined, { id: "twice" });
      await talk.settle();
      await talk.send(cancellation("twice"));
      await talk.settle();
      const count = talk.lines.slice(call.from).filter((line) => line.message?.["id"] === "twice").length;
      return pass(`it goes on; ${count} answers with that id came`);
    },
  }),
  ownRow({
    id: "REQ-13",
    level: "ADVICE",
    most: "warn",
    title: "long ids end nothing",
    place: { page: "advice" },
    sends: "an unknown method with an id of 1 MiB; of 8 MiB; and one whose line is over 16 MiB long",
    mend:
      "an answer that repeats the id may not fit a limit of its own: answer with id null, or drop it, and go on",
    async run(trial) {
      const rest = requestText(trial.era, "").length;
      const talk = await trial.open();
      const silent: string[] = [];
      const lengths = [["1 MiB", MIB], ["8 MiB", 8 * MIB], ["16 MiB", 16 * MIB - rest]] as const;
      for (const [name, length] of lengths) {
        const message = requestOf(trial.era, "doctor/no-such-method", undefined, "i".repeat(length));
        talk.looseIds.add(idKey(message["id"]));
        const from = talk.lines.length;
        talk.send(message);
        const asked = talk.asked.at(-1)!;
        talk.sent[talk.sent.length - 1] = `an unknown method with an id of ${name}`;
        await talk.fence(trial.bound(10_000));
        await talk.fence();
        const isRefused = talk.lines.slice(from).some(isNullAnswer);
        if (talk.found(asked) === undefined && !isRefused) silent.push(name);
      }
      return silent.length === 0
        ? pass("answered or refused")
        : note(`no answer to an id of ${silent.join(", ")}`);
    },
  }),
]);

async function sendMalformed(talk: Conversation, era: Era): Promise<Finding> {
  const { params } = requestOf(era, fenceMethod(era), undefined, 0) as { params?: unknown };
  const base = { jsonrpc: "2.0", method: fenceMethod(era), ...params === undefined ? {} : { params } };
  const without = (name: string) => Object.fromEntries(Object.entries(base).filter(([key]) => key !== name));
  const malformed: ReadonlyArray<readonly [string, { readonly [name: string]: unknown }]> = [
    ["params that are an array", { ...base, params: [] }],
    ["params that are a string", { ...base, params: "x" }],
    ["no jsonrpc", without("jsonrpc")],
    ["jsonrpc 1.0", { ...base, jsonrpc: "1.0" }],
    ["a method that is a number", { ...base, method: 5 }],
    ["no method", without("method")],
  ];
  const silent: string[] = [];
  const lenient: string[] = [];
  let last: Asked | undefined;
  for (const [name, message] of malformed) {
    const from = talk.lines.length;
    const id = talk.newId();
    await talk.send({ ...message, id });
    const asked = talk.asked.at(-1)!;
    await talk.settle();
    const line = talk.found(asked) ?? talk.lines.slice(from).find(isNullAnswer);
    if (line === undefined) silent.push(name);
    else if (line.kind === "result") lenient.push(name);
    if (line?.kind !== "error") last = asked;
  }
  if (silent.length === 0 && lenient.length === 0) return pass("all are refused");
  const said = [
    silent.length === 0 ? "" : `silent to ${silent.join(", ")}`,
    lenient.length === 0 ? "" : `a result for ${lenient.join(", ")}`,
  ];
  return note(said.filter(Boolean).join("; "), talk.evidence({ sent: last }));
}
