import type { Check } from "./check.ts";

/** Whether a check is asked for: by its id, its group, or a pattern with `*`. */
export function isSelected(
  { id, group }: Pick<Check, "id" | "group">,
  only: readonly string[],
  skip: readonly string[],
): boolean {
  const names = [id, group, id.split("-")[0]!];
  const matches = (pattern: string) => names.some((name) => toRegExp(pattern).test(name));
  return (only.length === 0 || only.some(matches)) && !skip.some(matches);
}

/** The patterns that mean nothing in the table. */
export function unknownPatterns(patterns: readonly string[], table: readonly Check[]): string[] {
  return patterns.filter((pattern) => !table.some((check) => isSelected(check, [pattern], [])));
}

function toRegExp(pattern: string): RegExp {
  const escaped = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*");
  return new RegExp(`^${escaped}$`, "i");
}
