import type { Logger } from "../../logger.ts";
import { callGuarded } from "../thrown.ts";
import type { Life } from "./supervisor.ts";

/** The life of a client's server as its user sees it. */
type State = "connecting" | "ready" | "restarting" | "closing" | "closed";

/** What a life looks like from outside. */
export function stateOf(life: Life, restartCount: number): State {
  switch (life.phase) {
    case "starting":
      return restartCount === 0 ? "connecting" : "restarting";
    case "ending":
    case "waiting":
      return "restarting";
    default:
      return life.phase;
  }
}

/** Tells a listener of each change of it. */
export function stateListener(
  onStateChange: ((state: State) => unknown) | undefined,
  logger: Logger,
): (life: Life, restartCount: number) => void {
  let last: State = "connecting";
  return (life, restartCount) => {
    const state = stateOf(life, restartCount);
    if (state === last) return;
    last = state;
    callGuarded(
      () => onStateChange?.(state),
      (error) => logger.error("[mcp_stdio] onStateChange has failed", { error }),
    );
  };
}
