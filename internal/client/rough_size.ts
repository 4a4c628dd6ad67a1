/** About how much memory a value from the wire takes, in bytes: close enough for a bound on what waits. */
export function roughSize(value: unknown): number {
  if (typeof value === "string") return 16 + 2 * value.length;
  if (typeof value !== "object" || value === null) return 8;
  let size = 32;
  if (Array.isArray(value)) {
    for (const member of value) size += 8 + roughSize(member);
  } else {
    for (const key in value) size += 16 + key.length + roughSize((value as { [key: string]: unknown })[key]);
  }
  return size;
}
