/** The commands, in the order in which help lists them. What a command needs is loaded when it runs. */

import type { Command } from "./command.ts";
import { CALL } from "./commands/call.ts";
import { DOCTOR } from "./commands/doctor.ts";
import { LIST } from "./commands/list.ts";
import { LISTEN } from "./commands/listen.ts";
import { PROMPT } from "./commands/prompt.ts";
import { READ } from "./commands/read.ts";
import { RECORD } from "./commands/record.ts";
import { REPLAY } from "./commands/replay.ts";
import { SHOW } from "./commands/show.ts";

/** All commands. */
export const COMMANDS: readonly Command[] = [LIST, CALL, READ, PROMPT, LISTEN, DOCTOR, RECORD, SHOW, REPLAY];
