import assert from "node:assert/strict";
import { test } from "node:test";
import { CATALOGUE } from "../internal/cli/doctor/table.ts";
import { readDocs } from "./doctor_docs.ts";

test("docs/doctor.md has the checks as they are: else run deno task docs:doctor (L3)", () => {
  const { is, shouldBe } = readDocs();
  assert.equal(is, shouldBe);
  for (const { id } of CATALOGUE) assert.ok(is.includes(`**${id}** `), id);
});
