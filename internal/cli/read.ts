/** `read`: a resource from the shell. */

import { InvalidResponseError } from "../../errors.ts";
import { isJSONObject } from "../../messages.ts";
import { EXIT, type ExitCode, type Invocation } from "./command.ts";
import { formatContents, rawContent } from "./content.ts";
import { elicitationHandler } from "./elicitation.ts";
import type { CliIo } from "./io.ts";
import { requestWithProgress } from "./request.ts";
import { withClient } from "./session.ts";
import { showLine } from "./shown_text.ts";

/** Runs it. */
export async function runRead(invocation: Invocation, io: CliIo): Promise<ExitCode> {
  const [uri = ""] = invocation.words;
  const { screen } = io;
  return await withClient(invocation, io, async (client) => {
    const result = await requestWithProgress(client, "resources/read", { uri }, {
      label: showLine(uri, 60),
      invocation,
    }, io);
    const { contents } = result;
    if (!Array.isArray(contents) || !contents.every(isJSONObject)) {
      throw new InvalidResponseError("resources/read", 'its "contents" are no list of objects');
    }
    if (invocation.isJson) screen.json(result);
    else if (invocation.options.has("raw")) {
      for (const part of contents) screen.raw(rawContent(part) ?? "");
    } else {
      for (const part of contents) {
        // Several are told apart by their URIs.
        if (contents.length > 1) screen.result(screen.out.bold(showLine(String(part.uri), 500)));
        screen.result(formatContents(part));
      }
    }
    return EXIT.ok;
  }, { "elicitation/create": elicitationHandler(io) });
}
