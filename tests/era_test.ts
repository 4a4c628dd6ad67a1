import assert from "node:assert/strict";
import { test } from "node:test";
import { isModernRefusal, judgeProbe, type ProbeOutcome, supportedVersionsOf } from "../internal/era.ts";

const MODERN = "2026-07-28";

const result = (result: object): ProbeOutcome => ({
  kind: "result",
  result: result as Record<string, unknown>,
});
const error = (code: number, data?: unknown): ProbeOutcome => ({
  kind: "error",
  error: { code, message: "", data },
});
const discovered = (supportedVersions: unknown) => ({ supportedVersions });

/** Every outcome of the probe, and what follows. */
const TABLE: ReadonlyArray<[what: string, outcome: ProbeOutcome, tried: string[], verdict: object]> = [
  ["names our revision", result(discovered([MODERN])), [MODERN], {
    kind: "modern",
    version: MODERN,
    discovered: discovered([MODERN]),
  }],
  ["names ours among others", result(discovered(["2027-01-01", MODERN, "2025-11-25"])), [MODERN], {
    kind: "modern",
    version: MODERN,
    discovered: discovered(["2027-01-01", MODERN, "2025-11-25"]),
  }],
  ["names legacy revisions only", result(discovered(["2025-11-25"])), [MODERN], { kind: "legacy" }],
  ["names none that we speak", result(discovered(["2027-01-01"])), [MODERN], {
    kind: "incompatible",
    supported: ["2027-01-01"],
  }],
  ["names none", result(discovered([])), [MODERN], { kind: "legacy" }],
  ["is no DiscoverResult", result({}), [MODERN], { kind: "legacy" }],
  ["has versions that are no list", result(discovered("2026-07-28")), [MODERN], { kind: "legacy" }],
  ["has versions that are no texts", result(discovered([1, null])), [MODERN], { kind: "legacy" }],
  ["cannot be read", { kind: "invalid", reason: "x" }, [MODERN], { kind: "legacy" }],
  ["does not come", { kind: "silence" }, [MODERN], { kind: "legacy" }],
  ["is the end of the server", { kind: "ended" }, [MODERN], { kind: "relaunch" }],
  ["wants another revision", error(-32022, { supported: [MODERN] }), ["2099-01-01"], {
    kind: "retry",
    version: MODERN,
  }],
  ["names the revision it has just refused", error(-32022, { supported: [MODERN] }), [MODERN], {
    kind: "retry",
    version: MODERN,
  }],
  ["names it once more", error(-32022, { supported: [MODERN] }), [MODERN, MODERN], {
    kind: "incompatible",
    supported: [MODERN],
  }],
  ["wants legacy ones in the modern way", error(-32022, { supported: ["2025-11-25"] }), [MODERN], {
    kind: "incompatible",
    supported: ["2025-11-25"],
  }],
  ["wants one that we do not speak", error(-32022, { supported: ["2027-01-01"] }), [MODERN], {
    kind: "incompatible",
    supported: ["2027-01-01"],
  }],
  ["wants another one and names none", error(-32022), [MODERN], { kind: "incompatible", supported: [] }],
  ["wants another one in broken data", error(-32022, { supported: 5 }), [MODERN], {
    kind: "incompatible",
    supported: [],
  }],
  ["misses a capability", error(-32021), [MODERN], {
    kind: "modern",
    version: MODERN,
    discovered: undefined,
  }],
  ["misses a header", error(-32020), [MODERN], { kind: "modern", version: MODERN, discovered: undefined }],
];

for (const [what, outcome, tried, verdict] of TABLE) {
  test(`judgeProbe() reads an answer that ${what} (E1)`, () => {
    assert.deepEqual(judgeProbe(outcome, tried), verdict);
  });
}

test("judgeProbe() takes any other error for legacy, whatever its code (E1, B138, S2-57)", () => {
  for (
    const code of [-32601, -32602, -32600, -32603, -32700, -32000, -32001, -32002, -32023, 0, 1, 404, -1]
  ) {
    assert.deepEqual(judgeProbe(error(code), [MODERN]), { kind: "legacy" }, String(code));
    assert.equal(isModernRefusal({ code, message: "" }), false, String(code));
  }
});

test("isModernRefusal() knows the errors of a modern server (E3)", () => {
  for (const code of [-32022, -32021, -32020]) assert.equal(isModernRefusal({ code, message: "" }), true);
});

test("supportedVersionsOf() reads what an error names, whatever its data is (E1)", () => {
  const named = (data: unknown) => supportedVersionsOf({ code: -32022, message: "", data });
  assert.deepEqual(named({ supported: ["a", 1, "b"] }), ["a", "b"]);
  for (const data of [undefined, null, [], "a", { supported: "a" }, {}]) assert.deepEqual(named(data), []);
});
