/** Checks an option that is a count or a size. */
export function checkPositiveInteger(
  name: string,
  value: number,
  max: number = Number.MAX_SAFE_INTEGER,
): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return;
  const bound = max === Number.MAX_SAFE_INTEGER ? "" : ` of at most ${max}`;
  throw new RangeError(
    `Cannot use "${name}" as it must be a positive integer${bound}: current value is ${value}`,
  );
}

/** Checks an option that is a duration in milliseconds; `Infinity` means no limit. */
export function checkDuration(name: string, value: number): void {
  if (typeof value === "number" && value >= 0) return; // NaN is not.
  throw new RangeError(
    `Cannot use "${name}" as it must be a number of milliseconds, zero or more: current value is ${value}`,
  );
}

/** The longest line any option may allow: beyond it no runtime can make a string of it. */
const GREATEST_LINE_BYTES = 268_435_456;

/** Defaults of the limits of the framing layer, and of what a connection queues. */
export const FRAMING_DEFAULTS = {
  maxLineBytes: 16_777_216,
  maxQueuedBytes: 1_048_576,
  readBufferBytes: 65_536,
  maxNestingDepth: 512,
} as const;

/** Checks the limits of the framing layer. */
export function checkFramingLimits(
  limits: { maxLineBytes: number; readBufferBytes?: number; maxNestingDepth: number },
): void {
  checkPositiveInteger("maxLineBytes", limits.maxLineBytes, GREATEST_LINE_BYTES);
  // Each level is a stack frame of the check itself.
  checkPositiveInteger("maxNestingDepth", limits.maxNestingDepth, 2_048);
  if (limits.readBufferBytes !== undefined) checkPositiveInteger("readBufferBytes", limits.readBufferBytes);
}

/** Options without those that are absent: `undefined` means the same as no member. */
export function withoutUndefined<T extends object>(
  options: T,
): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const present = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [Name in keyof T]: Exclude<T[Name], undefined> };
}
