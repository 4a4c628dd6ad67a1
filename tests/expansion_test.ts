import assert from "node:assert/strict";
import { test } from "node:test";
import {
  expandTemplate,
  type Expansion,
  parseTemplate,
  type Resolution,
  type ValueSource,
} from "../internal/host_config/expansion.ts";
import { assertLinear } from "./linear_time.ts";

const VALUES: Readonly<Record<string, string>> = { A: "/a", B: "/h", EMPTY: "", TWICE: "${A}", BRACE: "}" };

function resolve(name: string): Resolution {
  const value = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
  if (name.startsWith("secret")) return { kind: "value", value: "hush", source: "secret" };
  if (name.startsWith("input:")) return { kind: "unasked", id: name.slice(6) };
  if (value !== undefined) return { kind: "value", value, source: "environment" };
  return { kind: "unset", message: `${name} is not set`, variable: name };
}

function expand(text: string, hidden?: readonly ValueSource[]): Expansion {
  const template = parseTemplate(text);
  assert.ok(template.kind === "template");
  return expandTemplate(template.parts, resolve, hidden);
}

const expansions: readonly [text: string, expanded: string, rule: string][] = [
  ["plain", "plain", "H2"],
  ["", "", "H2"],
  ["${A}", "/a", "S2-47"],
  ["x${A}y${B}z", "x/ay/hz", "S2-47"],
  ["${A:-d}", "/a", "S2-48"],
  ["${U:-d}", "d", "S2-48"],
  ["${EMPTY:-d}", "d", "S2-48"],
  ["${EMPTY}", "", "S2-48"],
  ["${U:-}", "", "B130"],
  ["${U:-postgresql://localhost:5432/db}", "postgresql://localhost:5432/db", "S2-48"],
  ["${U:-a:-b}", "a:-b", "S2-48"],
  ["${U:-${B}/x}:ro", "/h/x:ro", "B130"],
  ["${A:-${B}/x}:ro", "/a:ro", "B130"],
  ["${U:-${V:-${W:-deep}}}", "deep", "B130"],
  ["${U:-${V:-v}${B}}", "v/h", "B130"],
  ['${U:-{"a":{"b":"${B}"}}}', '{"a":{"b":"/h"}}', "B130"],
  ["${U:-}}", "}", "B130"],
  ["${TWICE}", "${A}", "S2-49"],
  ["${U:-${TWICE}}", "${A}", "S2-49"],
  ["${BRACE}${U:-${BRACE}x}", "}}x", "S2-49"],
  ["$${A}", "${A}", "B130"],
  ["$${A}${A}", "${A}/a", "B130"],
  ["$$${A}", "$${A}", "B130"],
  ["${U:-$${x}}", "${x}", "B130"],
  ["$A $ $$ {A} }{", "$A $ $$ {A} }{", "H2"],
  ["100$", "100$", "H2"],
];
for (const [text, expanded, rule] of expansions) {
  test(`expandTemplate() makes "${expanded}" of "${text}" (${rule})`, () => {
    assert.deepEqual(expand(text), {
      kind: "text",
      text: expanded,
      shown: expanded,
      problems: [],
    });
  });
}

const faults: readonly [text: string, message: RegExp][] = [
  ["${A", /holds a "\${" at character 1 that is not closed/],
  ["ab${A:-x", /holds a "\${" at character 3 that is not closed/],
  ["${A:-${B}", /holds a "\${" at character 1 that is not closed/],
  ["${A:-{}", /holds a "\${" at character 1 that is not closed/],
  ["${", /holds a "\${" at character 1 that is not closed/],
  ["x${A${B}}", /holds a "\$" in the name behind the "\${" at character 2/],
  ["${A{B}", /holds a "{" in the name/],
  ["${A:-".repeat(51) + "}".repeat(51), /holds too many "\${" inside of each other/],
];
for (const [text, message] of faults) {
  test(`parseTemplate() finds the fault in "${text.slice(0, 20)}" (B130)`, () => {
    const template = parseTemplate(text);
    assert.ok(template.kind === "fault");
    assert.match(template.message, message);
  });
}

test("expandTemplate() reports every unset variable, and none in a default it does not need (B131)", () => {
  const expansion = expand("${U}${A:-${NOT_NEEDED}}${V:-${W}}");
  assert.ok(expansion.kind === "text");
  assert.deepEqual(expansion.problems.map((problem) => problem.kind === "unset" && problem.variable), [
    "U",
    "W",
  ]);
});

test("expandTemplate() shows values of hidden sources as the references they are written as (XD8)", () => {
  const text = "--key=${secret}:${A:-${B}}:${U:-${B}}:${EMPTY:-d}";
  const shown = (hidden?: readonly ValueSource[]) => {
    const expansion = expand(text, hidden);
    assert.ok(expansion.kind === "text");
    assert.equal(expansion.text, "--key=hush:/a:/h:d");
    return expansion.shown;
  };
  assert.equal(shown(), "--key=${secret}:/a:/h:d");
  assert.equal(shown(["secret", "environment"]), "--key=${secret}:${A:-${B}}:${B}:d");
});

test("expandTemplate() says whom to ask, all at once, and not for a default that may not be needed (B133)", () => {
  assert.deepEqual(expand("${input:a}${input:b:-${input:c}}${input:a}"), {
    kind: "unasked",
    ids: ["a", "b"],
  });
});

test("expandTemplate() puts in no more than a system takes (XD1, H5)", () => {
  const template = parseTemplate("${BIG}".repeat(140_000).slice(0, 6 * 100_000));
  assert.ok(template.kind === "template");
  const value = "x".repeat(8192);
  const expansion = expandTemplate(template.parts, () => ({ kind: "value", value, source: "environment" }));
  assert.ok(expansion.kind === "text");
  assert.deepEqual(expansion.problems, [{
    kind: "invalid",
    message: "more than 1048576 characters are put in",
  }]);
  assert.ok(expansion.text.length <= 1_048_576);
});

test("parseTemplate() reads no more references than anybody writes, and expandTemplate() no more faults (XD1, H5)", () => {
  const many = parseTemplate("${A}".repeat(100_001));
  assert.deepEqual(many, { kind: "fault", message: "holds more than 100000 references" });
  const expansion = expand("${U}".repeat(5000));
  assert.equal(expansion.kind === "text" && expansion.problems.length, 1000);
});

const heaps: readonly [title: string, piece: string][] = [
  ["references", "${A}"],
  ["defaults", "${U:-{}}"],
  ["dollars", "$"],
  ["escapes", "$${"],
  ["braces", "{}"],
  ["letters", "x"],
];
for (const [title, piece] of heaps) {
  test(`parseTemplate() takes time that grows with the size, for many ${title} (XD1, H5)`, async () => {
    await assertLinear((size) => {
      const text = piece.repeat(size / piece.length);
      expand(text);
      parseTemplate(`\${U:-${text}`);
    }, 100_000);
  });
}
