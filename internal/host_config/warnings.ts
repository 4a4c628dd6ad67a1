/** What a person should know of an entry before they agree to it. */

import { ArgumentMasker } from "../secrets.ts";
import { quoteText } from "../shown_text.ts";
import { effectOf } from "../steering_names.ts";
import type { EntryOutcome } from "./entry.ts";
import type { HostLaunch } from "./shapes.ts";

/** So many are told, which is more than anybody reads. */
const GREATEST_WARNINGS = 100;

/** Warns of variables that decide what runs, and of keys that nobody reads. */
export function listWarnings(outcome: EntryOutcome): readonly string[] {
  const strangers = outcome.strangers.map(({ key, meant }) =>
    `${quoteText(key)} is not read: did you mean "${meant}"?`
  );
  return cut(outcome.kind === "stdio" ? [...listSteering(outcome.shown.env), ...strangers] : strangers);
}

/** Warns of variables that decide what runs, with their values. */
export function listSteering(env: HostLaunch["env"]): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const effect = effectOf(name);
    if (effect === undefined || value === null) return [];
    const shown = quoteText(new ArgumentMasker().mask(value));
    return [`the variable ${quoteText(name)} ${effect}: it is set to ${shown}`];
  });
}

function cut(warnings: string[]): readonly string[] {
  const rest = warnings.length - GREATEST_WARNINGS;
  if (rest > 0) warnings.splice(GREATEST_WARNINGS, rest, `there are ${rest} more warnings`);
  return Object.freeze(warnings);
}
