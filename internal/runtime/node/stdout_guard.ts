/** Keeps code in this process from writing to stdout by Node's own means. */

import { divert } from "../divert.ts";
import { nodeProcess, surviveErrors } from "./stdio.ts";

/** Sends to stderr what is written to `process.stdout`. `console` writes there too, and looks `write` up each time. */
export function divertStdout(): () => void {
  const { stdout } = nodeProcess();
  const toStderr = (...args: unknown[]): unknown => {
    const { stderr } = nodeProcess();
    surviveErrors(stderr);
    return Reflect.apply(stderr.write, stderr, args);
  };
  const undo = [
    divert(stdout, "write", toStderr),
    divert(stdout, "end", (...args) => {
      const [text] = args;
      if (text === undefined || text === null || typeof text === "function") {
        toStderr("", text ?? args.at(-1));
      } else toStderr(...args);
      return stdout;
    }),
  ];
  return () => undo.forEach((each) => each());
}
