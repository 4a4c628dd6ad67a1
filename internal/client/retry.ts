/** Whether a request may be made again on a new process. */
export type RetryPolicy = "auto" | "force" | "never";

/** As often as one request is made again. */
const MAX_RETRIES = 3;

/** What the decision needs to know of a request that was lost. */
export interface LostRequest {
  readonly method: string;
  readonly policy: RetryPolicy;
  /** Whether it had begun to leave; one that had not has done nothing. */
  readonly sent: boolean;
  /** How often it was made again already. */
  readonly retries: number;
}

/** Whether a lost request goes out again with a new id (rule P8): all but `tools/call` can be made twice. */
export function mayRetry({ method, policy, sent, retries }: LostRequest): boolean {
  if (policy === "never" || retries >= MAX_RETRIES) return false;
  return policy === "force" || !sent || method !== "tools/call";
}
