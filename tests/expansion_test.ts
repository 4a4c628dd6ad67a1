import assert from "node:assert/strict";
import { test } from "node:test";
import { expandTemplate, parseTemplate, type Resolution } from "../internal/host_config/expansion.ts";

const VALUES: Readonly<Record<string, string>> = { A: "/a", B: "/h", EMPTY: "", TWICE: "${A}", BRACE: "}" };

function resolve(name: string): Promise<Resolution> {
  const value = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
  if (name.startsWith("secret")) return Promise.resolve({ kind: "value", value: "hush", secret: true });
  if (value !== undefined) return Promise.resolve({ kind: "value", value });
  return Promise.resolve({ kind: "unset", message: `${name} is not set`, variable: name });
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
  test(`expandTemplate() makes "${expanded}" of "${text}" (${rule})`, async () => {
    const template = parseTemplate(text);
    assert.ok(template.kind === "template");
    assert.deepEqual(await expandTemplate(template.parts, resolve), {
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

test("expandTemplate() reports every unset variable, and none in a default it does not need (B131)", async () => {
  const template = parseTemplate("${U}${A:-${NOT_NEEDED}}${V:-${W}}");
  assert.ok(template.kind === "template");
  const { problems } = await expandTemplate(template.parts, resolve);
  assert.deepEqual(problems.map((problem) => problem.kind === "unset" && problem.variable), ["U", "W"]);
});

test("expandTemplate() masks secret values in what is shown (H3)", async () => {
  const template = parseTemplate("--key=${secret}:${A}");
  assert.ok(template.kind === "template");
  const { text, shown } = await expandTemplate(template.parts, resolve);
  assert.deepEqual([text, shown], ["--key=hush:/a", "--key=…:/a"]);
});
