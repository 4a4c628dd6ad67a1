/** START: is it there, is it silent until spoken to, what does it take to start. */

import { type Check, group, ownRow, sharedRow } from "../check.ts";
import { describeExit } from "../conversation.ts";
import { fenceMethod, LEGACY_VERSIONS } from "../era.ts";
import { factsOf, startMs } from "../facts.ts";
import { show, showBytes, showMs } from "../shown.ts";
import { fail, note, pass, skip, unknown, warn } from "../verdict.ts";

const MOST_RSS_BYTES = 300_000_000;
const MOST_PROCESSES = 4;
const PROBE_MS = 3_000;

export const START: readonly Check[] = group("start", [
  sharedRow({
    id: "START-01",
    level: "MUST",
    title: "answers its first message",
    place: { page: "basic/transports/stdio" },
    sends:
      "server/discover (modern) or initialize (legacy), at once after the start, before anything is read",
    mend:
      "attach the listener of stdin before any await; when something is missing, say so on stderr and exit " +
      'non-zero. Python: if __name__ == "__main__": mcp.run()',
    run: (_talk, { facts, era }) => factsOf(facts, era)!.start,
  }),
  ownRow({
    id: "START-02",
    level: "MUST",
    quick: true,
    title: "stdout is silent until spoken to",
    place: { page: "basic/transports/stdio" },
    sends: "nothing",
    mend:
      "TS: console.log → console.error; dotenv: config({ quiet: true }); a banner of a dependency: import " +
      "@mcp/stdio/stdout-guard first. Python: print(…, file=sys.stderr), logging.basicConfig(stream=sys.stderr)",
    async run(trial) {
      const talk = await trial.start();
      const { process } = talk;
      talk.era = trial.era;
      const waitMs = Math.max(1_000 * trial.options.patience, 1.5 * startMs(trial.facts));
      await process.until(() => process.firstByteAt !== undefined || !process.lives, waitMs);
      if (process.outputEnded) await process.exitedWithin(500);
      const ended = process.exit;
      await trial.close(talk);
      const said = talk.lines.find(({ kind }) => kind !== "blank");
      if (said === undefined && process.rest.length > 0) {
        const shown = { ...talk.evidence(), got: show(process.rest) };
        return fail("bytes that are no message came before anything was sent", shown);
      }
      if (said !== undefined) {
        const shown = talk.evidence({ line: said });
        if (said.kind === "stray") return fail("text came on stdout before anything was sent", shown);
        if (said.kind === "request") return fail("a request came before anything was sent", shown);
        return warn("a message came before anything was sent", shown);
      }
      if (ended === undefined) return pass(`nothing within ${showMs(waitMs)}`);
      return ended?.code === 0
        ? warn("it ended by itself (code 0) though its stdin was open and nobody had spoken", talk.evidence())
        : unknown(`it ended by itself (${describeExit(ended)}) before anything was sent`, talk.evidence());
    },
  }),
  ownRow({
    id: "START-03",
    level: "ADVICE",
    most: "warn",
    eras: "legacy_only",
    title: "lets a newer client probe it",
    place: { page: "2026-07-28 basic/transports/stdio", heading: "Backward Compatibility" },
    sends: "server/discover as the first line, then initialize",
    mend:
      "answer unknown methods before initialize with -32601, and keep no state about which message came first",
    async run(trial) {
      const talk = await trial.start();
      talk.era = { modern: true, version: "2026-07-28" };
      const probe = talk.ask("server/discover");
      const answer = await talk.answer(probe, trial.bound(PROBE_MS));
      talk.era = trial.era;
      if (talk.process.exit !== undefined) {
        return note(
          `it ends at the probe (${describeExit(talk.process.exit)}): newer clients start it twice`,
          talk.evidence({ sent: probe }),
        );
      }
      const { line, shown } = await talk.exchange(talk.askInitialize(LEGACY_VERSIONS[0]!));
      if (line?.kind !== "result") return warn("after the probe it refuses initialize", shown);
      if (answer === undefined && talk.found(probe) === undefined) {
        return note("it is silent to the probe: newer clients wait their whole probe time at each start", {
          ...talk.evidence({ sent: probe }),
          waitedMs: trial.bound(PROBE_MS),
        });
      }
      return pass("refuses the probe, and initialize works after it");
    },
  }),
  sharedRow({
    id: "START-04",
    level: "ADVICE",
    eras: "any",
    title: "memory and processes at rest",
    place: { page: "advice" },
    sends: "nothing",
    mend: "load what is heavy when it is first needed",
    run(_talk, { facts, era }) {
      const { rssBytes, processes } = factsOf(facts, era)!;
      if (rssBytes === undefined || processes === undefined) return skip("only on Linux");
      const said = `${showBytes(rssBytes)} in ${processes} processes`;
      return rssBytes > MOST_RSS_BYTES || processes > MOST_PROCESSES ? note(said) : pass(said);
    },
  }),
  ownRow({
    id: "START-05",
    level: "ADVICE",
    title: "starts in another folder and with a lean environment",
    place: { page: "advice" },
    sends: "the first message, in an empty folder and with PATH, HOME, LANG, TMPDIR alone",
    mend: "find files beside the program (import.meta.url, __file__), not in the working directory",
    async run(trial) {
      const { launch, runtime, lean } = trial.options;
      if (!lean) return skip("needs --lean");
      for (const word of [launch.command, ...launch.args]) {
        if (!word.startsWith("/") && await runtime.isFile(word)) {
          return skip("the command names files of its folder");
        }
      }
      const kept = new Set(["PATH", "HOME", "LANG", "TMPDIR"]);
      const dropped = Object.keys(runtime.env()).filter((name) => !kept.has(name));
      const env = Object.fromEntries(
        dropped.filter((name) => !(name in launch.env)).map((name) => [name, undefined]),
      );
      const talk = await trial.start({ env, script: 'cd "$(mktemp -d)" && exec "$@"' });
      talk.era = trial.era;
      const asked = trial.era.modern
        ? talk.ask(fenceMethod(trial.era))
        : talk.askInitialize(trial.era.version);
      const answer = await talk.answer(asked, trial.bound(10_000));
      if (answer !== undefined) return pass("it does");
      return note("no answer there, though it answers here", {
        ...talk.evidence({ sent: asked }),
        got: show(talk.process.stderr.lastLines(3)) || undefined,
      });
    },
  }),
]);
