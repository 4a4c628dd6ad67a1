import type { Mutation } from "../mutation.ts";

const DOCTOR = "internal/cli/doctor";
const PARTS = ["doctor_parts_test.ts"];
const REPORT = ["doctor_report_test.ts"];
const FIXTURES = ["doctor_fixtures_test.ts"];

/** `doctor`: a check that says nothing is as bad as one that is red for a server that keeps the rules. */
export const ROWS: readonly Mutation[] = [
  {
    id: "L2-lines",
    file: `${DOCTOR}/raw_line.ts`,
    find: "const LF = 0x0a;",
    replace: "const LF = 0x0d;",
    tests: PARTS,
    breaks: "lines of servers that write CR LF are cut elsewhere than a client cuts them",
  },
  {
    id: "L2-bom",
    file: `${DOCTOR}/raw_line.ts`,
    find: 'faults.add("bom");',
    replace: "",
    tests: PARTS,
    breaks: "a byte order mark before each message goes unseen",
  },
  {
    id: "L2-level",
    file: `${DOCTOR}/verdict.ts`,
    find: "rank(finding.verdict) > rank(most)",
    replace: "rank(finding.verdict) > 9",
    tests: PARTS,
    breaks: "an advice fails the CI of a server",
  },
  {
    id: "L2-ended",
    file: `${DOCTOR}/verdict.ts`,
    find: "finding.ended === true ? ENDED[level]",
    replace: "finding.ended === true ? MOST[level]",
    tests: PARTS,
    breaks: "a server that ends at a bad line is only warned",
  },
  {
    id: "L2-arguments",
    file: `${DOCTOR}/tool_choice.ts`,
    find: "if (value === NO_ARGUMENT) return undefined;",
    replace: "if (value === NO_ARGUMENT) continue;",
    tests: PARTS,
    breaks: "a tool is called with arguments that nobody has named",
  },
  {
    id: "L2-world",
    file: `${DOCTOR}/tool_choice.ts`,
    find: 'hint("openWorldHint") === false',
    replace: 'hint("openWorldHint") !== true',
    tests: PARTS,
    breaks: "a read-only tool that reaches the network is called unasked",
  },
  {
    id: "L2-dialect",
    file: `${DOCTOR}/schemas/meta_schemas.ts`,
    find: 'if (isDraft07) return { kind: old ? "valid" : "unsaid" };',
    replace: 'if (isDraft07) return { kind: "valid" };',
    tests: PARTS,
    breaks: "a schema in the wrong dialect passes",
  },
  {
    id: "L2-baseline",
    file: `${DOCTOR}/summary.ts`,
    find: " || known.has(keyOf(outcome))",
    replace: "",
    tests: REPORT,
    breaks: "--baseline has no effect",
  },
  {
    id: "L2-unusable",
    file: `${DOCTOR}/run_doctor.ts`,
    find: "if (!usable) return EXIT.unusable;",
    replace: "",
    tests: REPORT,
    breaks: "a server that does not start looks like one that breaks a rule",
  },
  {
    id: "L2-content",
    file: `${DOCTOR}/checks/tools.ts`,
    find: 'if (trial.options.showContent || line?.kind !== "result") return shown;',
    replace: "if (shown !== undefined) return shown;",
    tests: REPORT,
    breaks: "what a tool returned, such as an environment with its secrets, stands in a report",
  },
  {
    id: "L2-starts",
    file: `${DOCTOR}/starter.ts`,
    find: "if (this.starts >= this.options.maxStarts) throw new NoStartsLeft();",
    replace: "if (this.starts >= 1_000) throw new NoStartsLeft();",
    tests: REPORT,
    breaks: "a server is started more often than the user allows",
  },
  {
    id: "L2-confirm",
    file: `${DOCTOR}/examination.ts`,
    find: "if (second.verdict === first.verdict) return this.#say(check, era, first, ms, true);",
    replace: "if (first !== undefined) return this.#say(check, era, first, ms, true);",
    tests: REPORT,
    breaks: "something that came once by chance is reported",
  },
  {
    id: "L2-blame",
    file: `${DOCTOR}/examination.ts`,
    find: "      const second = await again();\n      this.#facts.unstable = true;",
    replace:
      "      if (this.#facts.unstable || again !== undefined) throw error;\n      const second = await again();",
    tests: REPORT,
    breaks: "a check is blamed for an end that was not its doing",
  },
  {
    id: "L2-control",
    file: `${DOCTOR}/report_junit.ts`,
    find: "  return spellUnsafe(text).replaceAll(/[\\ufffe\\uffff]/g, toEscape)",
    replace: "  return text",
    tests: PARTS,
    breaks: "a JUnit report with colour codes in it is no XML",
  },
  {
    id: "L3-twice",
    file: `${DOCTOR}/checks/stdout.ts`,
    find: "came.get(key)! > asked.get(key)!",
    replace: "came.get(key)! > 99",
    tests: FIXTURES,
    breaks: "two answers to one request go unseen",
  },
  {
    id: "L3-era",
    file: `${DOCTOR}/conversation.ts`,
    find: 'if (this.#spoken.modern && answer.kind !== "result") {',
    replace: 'if (this.#spoken.modern && answer.kind === "request") {',
    tests: FIXTURES,
    breaks: "a server that falls back to the old era goes unseen",
  },
];
