/** Keeps code in this process from writing to stdout by Node's own means. */

import { divert, Shared } from "../divert.ts";
import { writeLikeStream } from "../node_api/written_data.ts";
import { writeToStderr } from "./stderr.ts";
import { nodeProcess } from "./process.ts";

/** The guard of this process. */
export const stdoutGuard: Shared = new Shared(divertStdout);

/**
 * Sends to stderr what is written to `process.stdout`. `console` writes there too, and looks `write` up each time. What is
 * written to `process.stderr` goes the same way, so that it stays in order, and waits for nobody on Windows either.
 */
function divertStdout(): () => void {
  const { stdout, stderr } = nodeProcess();
  const undo = [
    divert(stdout, "write", (...args) => writeLikeStream(args, writeToStderr)),
    divert(stderr, "write", (...args) => writeLikeStream(args, writeToStderr)),
    divert(stdout, "end", (...args) => {
      const [text] = args;
      const isText = text !== undefined && text !== null && typeof text !== "function";
      writeLikeStream(isText ? args : ["", args.at(-1)], writeToStderr);
      return stdout;
    }),
  ];
  return () => undo.forEach((each) => each());
}
