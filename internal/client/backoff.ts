/** What is waited before the first, second, … restart in a row, in milliseconds; the last one is kept. */
const STEPS_MS = [0, 250, 1_000, 4_000];

/** As much of a step as chance adds or takes. */
const JITTER = 0.25;

/**
 * The wait before a restart (rule P8).
 *
 * @param attempt 1 for the first restart in a row.
 * @param random From 0 to below 1.
 */
export function backoffMs(attempt: number, random: number): number {
  const step = STEPS_MS[Math.min(attempt, STEPS_MS.length) - 1]!;
  return Math.round(step * (1 - JITTER + 2 * JITTER * random));
}
