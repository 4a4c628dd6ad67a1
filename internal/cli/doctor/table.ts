/** All checks, in the order in which they are made: harmless first, floods and bad lines last. */

import { type Check, GROUPS } from "./check.ts";
import { BAD_LINES, NOTICES } from "./checks/bad_lines.ts";
import { CANCEL } from "./checks/cancel.ts";
import { CONTENT } from "./checks/content.ts";
import { END } from "./checks/end.ts";
import { ERAS } from "./checks/eras.ts";
import { FRAMES } from "./checks/frames.ts";
import { HANDSHAKE } from "./checks/handshake.ts";
import { LISTENS } from "./checks/listens.ts";
import { LISTS } from "./checks/lists.ts";
import { LOAD } from "./checks/load.ts";
import { NOTIFICATIONS } from "./checks/notifications.ts";
import { PROGRESS } from "./checks/progress.ts";
import { REQUESTS_TABLE } from "./checks/requests.ts";
import { SCHEMA } from "./checks/schema.ts";
import { START } from "./checks/start.ts";
import { STDERR } from "./checks/stderr.ts";
import { STDOUT } from "./checks/stdout.ts";
import { STDOUT_MODERN } from "./checks/stdout_modern.ts";
import { TOOLS } from "./checks/tools.ts";

/** What stands last in the conversation that many share: it may end it, or leave it slow. */
const LAST = ["REQ-10", "LOAD-04", "FRAME-06", "FRAME-07", "REQ-11", "LOAD-05"];

const ALL: readonly Check[] = [
  ...START,
  ...ERAS,
  ...HANDSHAKE,
  ...LISTS,
  ...REQUESTS_TABLE,
  ...FRAMES,
  ...CONTENT,
  ...PROGRESS,
  ...TOOLS,
  ...CANCEL,
  ...BAD_LINES,
  ...NOTICES,
  ...LISTENS,
  ...LOAD,
  ...END,
  ...STDOUT,
  ...STDOUT_MODERN,
  ...NOTIFICATIONS,
  ...SCHEMA,
  ...STDERR,
];

const isLast = ({ id }: Check): boolean => LAST.includes(id);

/** The table of checks. */
export const TABLE: readonly Check[] = [
  ...ALL.filter((check) => !isLast(check)),
  ...LAST.map((id) => ALL.find((check) => check.id === id)!),
];

/** By group and id, as they are listed for people. */
export const CATALOGUE: readonly Check[] = ALL.toSorted((one, other) =>
  GROUPS.indexOf(one.group) - GROUPS.indexOf(other.group) || (one.id < other.id ? -1 : 1)
);
