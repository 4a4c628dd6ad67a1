import type { HostServerLaunch } from "./shapes.ts";

/** A digest of a launch that changes when any of it changes, and with nothing else. */
export function fingerprintLaunch(launch: HostServerLaunch): Promise<string> {
  const { command, args, cwd, env, envFile } = launch;
  const variables = Object.entries(env).sort(([left], [right]) => left < right ? -1 : left > right ? 1 : 0);
  const content = ["launch", 1, command, args, cwd ?? null, variables];
  // Only where there is one, so that what was agreed to without is known for ever.
  return digest(envFile === undefined ? content : [...content, envFile]);
}

/** A digest of an entry that starts nothing, over what stands in the file. */
export function fingerprintEntry(value: unknown): Promise<string> {
  return digest(["entry", 1, value]);
}

async function digest(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
