/** The commands, in the order in which help lists them. What a command needs is loaded when it runs. */

import type { Command } from "./command.ts";
import { LIST } from "./commands/list.ts";

/** All commands. */
export const COMMANDS: readonly Command[] = [LIST];
