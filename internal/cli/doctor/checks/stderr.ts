/** ERR: stderr is free; these are only things to know. */

import { type Check, group, type Watched, watchRow } from "../check.ts";
import type { Conversation } from "../conversation.ts";
import { show, showBytes } from "../shown.ts";
import { type Finding, note, pass, worstOf } from "../verdict.ts";

const STDERR_ALONE = "nothing: it looks at stderr of the whole run";
const MOST_BYTES = 1_048_576;
const MOST_LINE = 65_536;

function each(judge: (talk: Conversation) => Finding | undefined): (watched: Watched) => Finding {
  return ({ talks }) => worstOf(talks.map(judge));
}

export const STDERR: readonly Check[] = group("stderr", [
  watchRow({
    id: "ERR-01",
    level: "ADVICE",
    title: "stderr is UTF-8 text",
    place: { page: "basic/transports/stdio" },
    sends: STDERR_ALONE,
    mend: "write text, without control characters but those of colour",
    watch: each((talk) => {
      const { notUtf8, hasControls } = talk.process.stderr;
      const shown = { ...talk.evidence(), got: show(talk.process.stderr.lastLines(2)) };
      if (notUtf8) return note("stderr has bytes that are no UTF-8", shown);
      return hasControls ? note("stderr has control characters", shown) : undefined;
    }),
  }),
  watchRow({
    id: "ERR-02",
    level: "ADVICE",
    title: "stderr is no flood",
    place: { page: "advice" },
    sends: STDERR_ALONE,
    mend: "log less by default",
    watch: ({ talks }) => {
      const bytes = talks.reduce((sum, { process }) => sum + process.stderr.bytes, 0);
      const longest = Math.max(0, ...talks.map(({ process }) => process.stderr.longestLine));
      if (bytes > MOST_BYTES) return note(`${showBytes(bytes)} of stderr in this run`);
      return longest > MOST_LINE ? note(`a line of ${showBytes(longest)} on stderr`) : pass("");
    },
  }),
  watchRow({
    id: "ERR-03",
    level: "ADVICE",
    title: "no stack trace while it goes on",
    place: { page: "advice" },
    sends: STDERR_ALONE,
    mend: "catch it where it is thrown, or end with a code that is not 0",
    watch: each((talk) => {
      const { stderr, exit, mayBeCut } = talk.process;
      if (stderr.unhandled === undefined || mayBeCut || exit?.code !== 0) return undefined;
      return note("a stack trace on stderr of a process that went on, and ended with 0", {
        ...talk.evidence(),
        got: show(stderr.unhandled),
      });
    }),
  }),
]);
