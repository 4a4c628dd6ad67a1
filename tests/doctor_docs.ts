// The catalogue of checks in docs/doctor.md, made from the table: `deno task docs:doctor`.
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import type { Check } from "../internal/cli/doctor/check.ts";
import { placeOf, showPlace } from "../internal/cli/doctor/place.ts";
import { CATALOGUE } from "../internal/cli/doctor/table.ts";
import { pathOf } from "./doctor_helpers.ts";

const PATH = pathOf("docs/doctor.md");
const BEGIN = "<!-- checks: made by `deno task docs:doctor` -->";
const END = "<!-- end of checks -->";

/** The file as it is, and as it should be. */
export function readDocs(): { readonly is: string; readonly shouldBe: string } {
  const is = readFileSync(PATH, "utf8");
  const [before, rest] = is.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) {
    throw new Error(`Cannot find the marks of the checks in ${PATH}`);
  }
  return { is, shouldBe: `${before}${BEGIN}\n\n${catalogue()}\n${END}${after}` };
}

function catalogue(): string {
  const lines: string[] = [];
  let group = "";
  for (const check of CATALOGUE) {
    if (check.group !== group) lines.push(`### ${check.group}`, "");
    group = check.group;
    lines.push(...entryOf(check), "");
  }
  return lines.join("\n");
}

function entryOf(check: Check): string[] {
  const place = placeOf(check, undefined);
  const shown = showPlace(place);
  const where = place.url === null ? shown : `[${shown}](${place.url})`;
  const eras = ERAS[check.eras];
  return [
    `**${check.id}** ${check.title}`,
    "",
    `- ${check.level}${eras === "" ? "" : `, ${eras}`}; ${where}`,
    `- sends: ${plain(check.sends)}`,
    `- mend: ${plain(check.mend)}`,
  ];
}

const ERAS: Readonly<Record<Check["eras"], string>> = {
  any: "",
  each: "",
  modern: "2026-07-28",
  legacy: "before 2026-07-28",
  modern_only: "servers of 2026-07-28 alone",
  legacy_only: "servers of the older revisions alone",
  dual: "servers of both eras",
};

/** Text in which Markdown sees nothing of its own. */
function plain(text: string): string {
  return text.replaceAll(/[\\*_<>[\]`]/g, (character) => `\\${character}`);
}

if (process.argv[2] === "--write") writeFileSync(PATH, readDocs().shouldBe);
