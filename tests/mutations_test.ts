import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./_sources.ts";
import { AREAS, occurrences } from "./mutations/areas.ts";

const ALL = [...AREAS].flatMap(([area, rows]) => rows.map((row) => ({ ...row, area })));

test("each mutation finds its text exactly once in its file", () => {
  const stale: string[] = [];
  for (const { area, id, file, find } of ALL) {
    const path = join(ROOT, file);
    const count = existsSync(path) ? occurrences(readFileSync(path, "utf8"), find) : -1;
    if (count === 1) continue;
    const state = count < 0 ? "there is no such file" : `it stands there ${count} times`;
    stale.push(`${id} of tests/mutations/rows/${area}.ts, in ${file}: ${state}: ${JSON.stringify(find)}`);
  }
  assert.deepEqual(stale, [], "Adapt these rows to the code as it is now, so that they break the same");
});

test("each mutation has an id of its own in its area, changes its text, and names tests that are there", () => {
  const ids = ALL.map(({ area, id }) => `${area} ${id}`);
  assert.deepEqual(ids.filter((id, index) => ids.indexOf(id) < index), []);
  for (const { id, find, replace, tests } of ALL) {
    assert.notEqual(find, replace, id);
    assert.ok(tests.length > 0, id);
    for (const name of tests) assert.ok(existsSync(join(ROOT, "tests", name)), `${id}: no tests/${name}`);
  }
});
