import type { Logger } from "../../logger.ts";
import type { ClientCapabilities, Era, Implementation, LoggingLevel } from "../../messages.ts";
import type { Clock } from "../../runtime.ts";
import type { InputHandlers } from "./questions.ts";
import type { Graces } from "./link.ts";
import type { NotificationListener } from "./notification_queue.ts";

/** What was started, for errors. */
export interface StartedCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  /** All of it as it is shown to a person, without the values of its environment. */
  readonly line: string;
}

/** What a client goes by; nothing is left to default but what may be absent. */
export interface ClientSettings {
  readonly info: Implementation;
  readonly capabilities: ClientCapabilities;
  readonly era: "auto" | Era;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly probeTimeoutMs: number;
  readonly listenTimeoutMs: number;
  readonly healthCheckMs: number;
  readonly maxRestarts: number;
  readonly maxQueuedNotifications: number;
  readonly graces: Graces;
  readonly logLevel: LoggingLevel | undefined;
  readonly inlineNotifications: boolean;
  readonly onNotification: NotificationListener | undefined;
  readonly onStrayOutput: ((text: string) => unknown) | undefined;
  readonly inputHandlers: InputHandlers;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Whether a server that ends at the probe can be started again. */
  readonly canRelaunch: boolean;
  readonly command: StartedCommand | undefined;
}
