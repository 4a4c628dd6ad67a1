/** `doctor`: makes a run and reports it. */

import { EXIT, type ExitCode, type Invocation, UsageError } from "../command.ts";
import type { CliIo } from "../io.ts";
import { resolveTarget, toLaunchSettings } from "../target.ts";
import { Examination, type Examined, type Outcome } from "./examination.ts";
import { explainCheck, listChecks } from "./explain.ts";
import type { DoctorOptions } from "./options.ts";
import { placeOf } from "./place.ts";
import { at, isObject } from "./raw_line.ts";
import { readDoctorOptions, readStrictness } from "./read_options.ts";
import { outcomeJson, reportJson } from "./report_json.ts";
import { reportJUnit } from "./report_junit.ts";
import { reportText } from "./report_text.ts";
import { showMs } from "./shown.ts";
import { isOk } from "./summary.ts";
import { CATALOGUE, TABLE } from "./table.ts";

const PROGRAM = "npx @mcp/stdio";
/** From such a start on it is said how long all takes. */
const LONG_START_MS = 1_000;

/** Runs it. */
export async function runDoctor(invocation: Invocation, io: CliIo): Promise<ExitCode> {
  const { options, isJson } = invocation;
  const { screen } = io;
  if (options.has("list")) return sayCatalogue(isJson, io);
  const asked = readDoctorOptions(options);
  const known = await readBaseline(options.value("baseline"), io);
  const target = await resolveTarget(invocation, io);
  const isLines = options.value("json") === "lines";
  const settings: DoctorOptions = {
    ...asked,
    launch: toLaunchSettings(target, { processGroup: true, stderr: "pipe" }),
    runtime: io.runtime,
  };
  const examined = await new Examination(settings, TABLE, {
    onCheck: (id, done, of) => {
      if (!isLines) screen.status(`${id} … ${done} of ${of}`);
    },
    onOutcome: isLines ? (outcome: Outcome) => screen.result(JSON.stringify(outcomeJson(outcome))) : () => {},
    onPlan: ({ startMs, starts }) => {
      if (startMs < LONG_START_MS) return;
      const seconds = Math.round(starts * startMs / 1_000 + 15);
      screen.note(
        `the server takes ${showMs(startMs)} to start: this takes about ${seconds} s; --quick takes less`,
      );
    },
    interrupted: io.interrupted,
  }).run();
  screen.status("");
  const strictness = readStrictness(options);
  const ok = isOk(examined, strictness, known);
  const text = { commandLine: target.commandLine, verbose: options.has("verbose"), program: PROGRAM };
  const explained = options.value("explain");
  if (isLines) {
    screen.result(JSON.stringify({ ok, counts: at(reportJson(examined, settings, ok), "counts") }));
  } else if (isJson) screen.json(reportJson(examined, settings, ok));
  else if (explained === undefined || !examined.usable) reportText(examined, screen, text);
  else {for (const check of TABLE.filter(({ id }) => id === explained)) {
      explainCheck(check, examined, screen, text);
    }}
  const junit = options.value("junit");
  if (junit !== undefined) {
    await io.files.writePrivate(junit, reportJUnit(examined, target.commandLine, strictness));
  }
  return exitCodeOf(examined, ok);
}

function exitCodeOf({ usable }: Examined, ok: boolean): ExitCode {
  if (!usable) return EXIT.unusable;
  return ok ? EXIT.ok : EXIT.no;
}

function sayCatalogue(isJson: boolean, { screen }: CliIo): ExitCode {
  if (isJson) {
    screen.json(CATALOGUE.map((check) => ({
      id: check.id,
      group: check.group,
      level: check.level,
      title: check.title,
      spec: placeOf(check, undefined),
      sends: check.sends,
      mend: check.mend,
    })));
  } else listChecks(CATALOGUE, screen);
  return EXIT.ok;
}

/** What a former run has found. */
async function readBaseline(path: string | undefined, io: CliIo): Promise<ReadonlySet<string>> {
  if (path === undefined) return new Set();
  let report: unknown;
  try {
    report = JSON.parse(await io.runtime.readTextFile(path));
  } catch (error) {
    throw new UsageError(`Cannot read --baseline ${JSON.stringify(path)}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const checks = at(report, "checks");
  if (!Array.isArray(checks)) {
    throw new UsageError(`Cannot use --baseline ${JSON.stringify(path)}: it is no report of doctor`);
  }
  return new Set(checks.filter(isObject).map(({ id, era, verdict }) => `${id} ${era ?? ""} ${verdict}`));
}
