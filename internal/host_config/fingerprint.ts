/** What would be started. */
export interface FingerprintedLaunch {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string | null>>;
}

/** A digest of a launch that changes when any of it changes, and with nothing else. */
export function fingerprintLaunch(launch: FingerprintedLaunch): Promise<string> {
  const { command, args, cwd, env } = launch;
  const variables = Object.entries(env).sort(([left], [right]) => left < right ? -1 : left > right ? 1 : 0);
  return digest(["launch", 1, command, args, cwd ?? null, variables]);
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
