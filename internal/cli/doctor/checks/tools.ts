/** TOOL: what calls are answered with. */

import { type Check, group, judgeCode, ownRow, sharedRow, type Trial, watchRow } from "../check.ts";
import type { Exchange } from "../conversation.ts";
import { listsOf } from "../facts.ts";
import { at, codeOf, isObject, type Members, type RawLine, resultOf } from "../raw_line.ts";
import { valueProblems } from "../schemas/meta_schemas.ts";
import { listed } from "../shown.ts";
import { breakArguments, callTool, needNamed, needTool } from "../tool_choice.ts";
import { type Evidence, fail, note, pass, skip, unknown, warn, worstOf } from "../verdict.ts";

const ERRORS = { page: "server/tools", heading: "Error Handling" } as const;
const NO_TOOL = "mcp-stdio-doctor-no-such-tool";
const HARD_TEXT = "line 1\nline 2\r\n\u2028 é😀 ";
const HALF_PAIR = "\ud83d";

/** What stands for a call: what it returned is not shown unasked. */
function callEvidence(trial: Trial, { line, shown }: Exchange): Evidence {
  if (trial.options.showContent || line?.kind !== "result") return shown;
  const { content } = resultOf(line);
  const blocks = Array.isArray(content) ? content.map((block) => String(at(block, "type"))) : [];
  return {
    ...shown,
    got: `a result with ${blocks.length === 0 ? "no block" : listed(blocks)}, ${line.length} bytes`,
    gotBase64: undefined,
  };
}

function declaresTools(trial: Trial): boolean {
  return listsOf(trial.facts, trial.era)?.tools.declared === true;
}

export const TOOLS: readonly Check[] = group("tools", [
  sharedRow({
    id: "TOOL-01",
    level: "SHOULD",
    most: "fail",
    title: "an unknown tool gets error -32602",
    place: ERRORS,
    sends: `tools/call of ${NO_TOOL}`,
    mend: "throw a protocol error; SDKs of the 1.x line answer isError by themselves",
    async run(talk, trial) {
      if (!declaresTools(trial)) return skip("the server declares no tools");
      const { line, shown } = await talk.exchange(talk.ask("tools/call", { name: NO_TOOL, arguments: {} }));
      if (line === undefined) return fail("no answer to an unknown tool", shown);
      if (line.kind === "error") return judgeCode(line, [-32602], warn, shown);
      return resultOf(line)["isError"] === true
        ? warn("isError instead of error -32602", shown)
        : fail("an unknown tool is called with success", shown);
    },
  }),
  sharedRow({
    id: "TOOL-02",
    level: "SHOULD",
    title: "a call without a name is refused",
    place: ERRORS,
    sends: "tools/call without name",
    mend: "answer -32602",
    async run(talk, trial) {
      if (!declaresTools(trial)) return skip("the server declares no tools");
      const { line, shown } = await talk.exchange(talk.ask("tools/call", {}));
      if (line === undefined) return warn("no answer", shown);
      if (line.kind === "error") return judgeCode(line, [-32600, -32602], note, shown);
      return resultOf(line)["isError"] === true
        ? note("isError instead of error -32602", shown)
        : warn("a result", shown);
    },
  }),
  sharedRow({
    id: "TOOL-03",
    level: "MUST",
    title: "a call returns what it says",
    place: { page: "server/tools", heading: "Output Schema" },
    sends: "a tool that may be called, with arguments that its schema names",
    mend: "content: an array of blocks with their members; structuredContent as outputSchema says",
    async run(talk, trial) {
      const chosen = needTool(trial);
      const call = await talk.exchange(callTool(talk, trial, chosen), trial.bound(30_000));
      const shown = callEvidence(trial, call);
      const said = `${chosen.name} (${chosen.why})`;
      if (call.line === undefined) return unknown(`${said} has not answered`, shown);
      if (call.line.kind === "error") {
        return warn(`${said} is answered with error ${codeOf(call.line)}`, shown);
      }
      const result = resultOf(call.line);
      if (result["resultType"] === "input_required") {
        return unknown(`${said} asks the user: see ASK-01`, shown);
      }
      const faults = await resultFaults(result, chosen.tool);
      if (faults.length > 0) return fail(`${said}: ${listed(faults, 3)}`, shown);
      return pass(said, shown);
    },
  }),
  sharedRow({
    id: "TOOL-04",
    level: "SHOULD",
    title: "arguments that do not fit are refused",
    place: ERRORS,
    sends: "the same tool with arguments that break its schema",
    mend: "validate, and return isError: true with what is wrong",
    async run(talk, trial) {
      const chosen = needTool(trial);
      const args = breakArguments(chosen.tool["inputSchema"], chosen.args);
      if (args === undefined) return skip(`${chosen.name} takes any arguments`);
      const call = await talk.exchange(callTool(talk, trial, { ...chosen, args }), trial.bound(30_000));
      const shown = callEvidence(trial, call);
      if (call.line === undefined) return unknown(`${chosen.name} has not answered`, shown);
      if (call.line.kind === "error") {
        return codeOf(call.line) === -32602 ? pass("-32602") : note(`code ${codeOf(call.line)}`, shown);
      }
      return resultOf(call.line)["isError"] === true
        ? pass("isError")
        : warn(`${chosen.name} takes them`, shown);
    },
  }),
  ownRow({
    id: "TOOL-05",
    level: "MUST",
    title: "stdout stays clean while tools work",
    place: { page: "basic/transports/stdio" },
    sends: "a tool that echoes, with line ends, U+2028, é, 😀 and half a surrogate pair in a text",
    mend: "serialise with JSON.stringify or json.dumps, and write the line in one go",
    async run(trial) {
      const { tool } = trial.options;
      if (tool === undefined || !JSON.stringify(tool.args).includes('"@text"')) {
        return skip('needs a tool that echoes: --tool NAME --args \'{"text":"@text"}\'');
      }
      const talk = await trial.open();
      const args = JSON.parse(
        JSON.stringify(tool.args),
        (_key, value) => value === "@text" ? HARD_TEXT + HALF_PAIR : value,
      ) as Members;
      const from = talk.lines.length;
      const asked = callTool(talk, trial, { name: tool.name, args, why: "named by --tool" });
      const stray = () => talk.lines.slice(from).find(({ kind }) => kind === "stray");
      await talk.process.until(
        () => stray() !== undefined || talk.found(asked) !== undefined,
        trial.bound(30_000),
      );
      await talk.fence();
      if (stray() !== undefined) {
        return fail("the answer is torn into lines", talk.evidence({ line: stray() }));
      }
      const line = talk.found(asked);
      if (line === undefined) return unknown(`${tool.name} has not answered`);
      const text = blocksIn(resultOf(line)).find(({ type }) => type === "text")?.["text"];
      const wanted = [HARD_TEXT + HALF_PAIR, `${HARD_TEXT}\ufffd`];
      return wanted.some((each) => String(text).includes(each))
        ? pass("the text came back in one line")
        : unknown("the text did not come back as it was sent");
    },
  }),
  watchRow({
    id: "TOOL-06",
    level: "SHOULD",
    since: "2025-06-18",
    title: "structured content stands as text, too",
    place: { page: "server/tools", heading: "Structured Content" },
    sends: "nothing: it looks at each result of a call",
    mend: 'content: [{ type: "text", text: JSON.stringify(structuredContent) }]',
    watch({ talks }) {
      const isBare = (line: RawLine) =>
        line.kind === "result" && resultOf(line)["structuredContent"] !== undefined &&
        !blocksIn(resultOf(line)).some(({ type }) => type === "text");
      return worstOf(
        talks.flatMap((talk) =>
          talk.lines.filter(isBare).map(() =>
            warn("structuredContent without a block of text", talk.evidence())
          )
        ),
      );
    },
  }),
  ownRow({
    id: "TOOL-07",
    level: "ADVICE",
    title: "a crash is seen as one",
    place: { page: "advice" },
    sends: "a tool that ends the process, named by --crash",
    mend: "end with a code that is not 0, when what was answered is written",
    async run(trial) {
      const crash = needNamed(trial, "crash", "needs a tool that crashes: --crash NAME --crash-args JSON");
      const talk = await trial.open();
      const before = talk.sendFence();
      callTool(talk, trial, crash);
      if (!await talk.process.exitedWithin(trial.bound(10_000))) {
        return unknown(`${crash.name} did not end the process`);
      }
      await talk.process.until(() => talk.process.outputEnded, 1_000);
      if (talk.found(before) === undefined) {
        return note("an answer from before the crash is lost", talk.evidence());
      }
      return talk.process.exit?.code === 0 ? note("it ends with code 0", talk.evidence()) : pass("");
    },
  }),
]);

function blocksIn(result: Members): Members[] {
  const { content } = result;
  return Array.isArray(content) ? content.filter(isObject) : [];
}

const BLOCKS: ReadonlyMap<string, (block: Members) => boolean> = new Map([
  ["text", ({ text }) => typeof text === "string"],
  ["image", ({ data, mimeType }) => isBase64(data) && typeof mimeType === "string"],
  ["audio", ({ data, mimeType }) => isBase64(data) && typeof mimeType === "string"],
  ["resource", ({ resource }) => contentFault(resource) === undefined],
  ["resource_link", ({ uri, name }) => typeof uri === "string" && typeof name === "string"],
]);

async function resultFaults(result: Members, tool: Members): Promise<string[]> {
  const faults: string[] = [];
  const { content, structuredContent, isError } = result;
  if (!Array.isArray(content)) return ["content is no array"];
  for (const block of content) {
    const judge = BLOCKS.get(String(at(block, "type")));
    if (!isObject(block) || judge === undefined) {
      faults.push(`a block of type ${JSON.stringify(at(block, "type"))}`);
    } else if (!judge(block)) faults.push(`a block of type ${String(block["type"])} without its members`);
  }
  const { outputSchema } = tool;
  if (!isObject(outputSchema) || isError === true) return faults;
  if (structuredContent === undefined) {
    return [...faults, "no structuredContent, though there is an outputSchema"];
  }
  const problems = await valueProblems(outputSchema, structuredContent);
  return problems.length === 0 ? faults : [...faults, `structuredContent does not fit: ${problems[0]}`];
}

/** Whether a value is base64 as RFC 4648 has it. */
function isBase64(value: unknown): boolean {
  return typeof value === "string" && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
}

/** What is wrong with the contents of a resource. */
export function contentFault(content: unknown): string | undefined {
  if (!isObject(content)) return "no object";
  if (typeof content["uri"] !== "string") return "without uri";
  const hasText = "text" in content;
  if (hasText === "blob" in content) return hasText ? "both text and blob" : "neither text nor blob";
  if (hasText) return typeof content["text"] === "string" ? undefined : "a text that is no string";
  return isBase64(content["blob"]) ? undefined : "a blob that is no base64";
}
