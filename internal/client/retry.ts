import type { Era } from "../../messages.ts";

/** Whether a request may be made again on a new process. */
export type RetryPolicy = "auto" | "force" | "never";

/** As often as one request is made again. */
const MAX_RETRIES = 3;

const IN_BOTH_ERAS = [
  "tools/list",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "completion/complete",
];

/** The methods that a revision defines and that can be made twice: all but `tools/call`. What others do, nobody knows. */
const REPEATABLE: { readonly [era in Era]: ReadonlySet<string> } = {
  modern: new Set([...IN_BOTH_ERAS, "server/discover", "subscriptions/listen"]),
  legacy: new Set([
    ...IN_BOTH_ERAS,
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
  ]),
};

/** What the decision needs to know of a request that was lost. */
export interface LostRequest {
  readonly method: string;
  readonly policy: RetryPolicy;
  readonly era: Era;
  /** Whether it had begun to leave; one that had not has done nothing. */
  readonly sent: boolean;
  /** How often it was made again already. */
  readonly retries: number;
}

/** Whether a lost request goes out again with a new id (rule P8). */
export function mayRetry({ method, policy, era, sent, retries }: LostRequest): boolean {
  if (policy === "never" || retries >= MAX_RETRIES) return false;
  return policy === "force" || !sent || REPEATABLE[era].has(method);
}
