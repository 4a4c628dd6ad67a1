/** `listen`: what changes on a server, as it changes. */

import type { ListenEvent, Listening } from "../../client.ts";
import type { SubscriptionFilter } from "../../messages.ts";
import { type Options, parseDurationMs } from "./arguments.ts";
import { EXIT, type ExitCode, type Invocation, UnusableServerError, UsageError } from "./command.ts";
import type { CliIo } from "./io.ts";
import type { Screen } from "./screen.ts";
import { withClient } from "./session.ts";
import { showJson, showLine } from "./shown_text.ts";

/** Runs it: until Ctrl-C, the time or the number of events that was asked for, or the end of the server. */
export async function runListen(invocation: Invocation, io: CliIo): Promise<ExitCode> {
  const { options, isJson } = invocation;
  const { screen, interrupted, clock } = io;
  const filter = readFilter(options);
  const most = readCount(options.value("count"));
  const period = options.value("for");
  const periodMs = period === undefined ? undefined : parseDurationMs("--for", period);
  return await withClient(invocation, io, async (client) => {
    const listening = client.listen(filter);
    const stop = () => listening.close();
    interrupted.addEventListener("abort", stop, { once: true });
    let timer: unknown;
    try {
      await tellAgreement(listening, filter, screen);
      if (periodMs !== undefined) timer = clock.setTimeout(stop, periodMs);
      let count = 0;
      for await (const event of listening) {
        tellEvent(event, new Date(), isJson, screen);
        if (event.kind !== "notification") continue;
        // What has come meanwhile is more than was asked for.
        if (++count === most) break;
      }
      return await tellEnd(listening, screen);
    } catch (error) {
      // Ctrl-C while the server has not agreed yet.
      if (interrupted.aborted) return EXIT.ok;
      throw error;
    } finally {
      clock.clearTimeout(timer);
      interrupted.removeEventListener("abort", stop);
    }
  });
}

/** What is asked for; without a word about it, every change of a list. */
function readFilter(options: Options): SubscriptionFilter {
  const uris = options.values("resource");
  const isAll = !["tools", "prompts", "resources"].some((name) => options.has(name)) && uris.length === 0;
  return {
    ...isAll || options.has("tools") ? { toolsListChanged: true } : {},
    ...isAll || options.has("prompts") ? { promptsListChanged: true } : {},
    ...isAll || options.has("resources") ? { resourcesListChanged: true } : {},
    ...uris.length > 0 ? { resourceSubscriptions: [...uris] } : {},
  };
}

function readCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new UsageError(`Cannot use --count ${JSON.stringify(text)}: it is a number, one or more`);
  }
  return count;
}

async function tellAgreement(listening: Listening, asked: SubscriptionFilter, screen: Screen): Promise<void> {
  const agreed = await listening.acknowledged;
  const refused = Object.keys(asked).filter((key) => {
    const value = agreed[key as keyof SubscriptionFilter];
    return value === undefined || value === false;
  });
  for (const key of refused) screen.warn(`the server does not tell of ${WORDS[key] ?? key}`);
  screen.note(screen.err.dim("listening: Ctrl-C ends it"));
}

const WORDS: { readonly [key: string]: string } = {
  toolsListChanged: "changes of its tools",
  promptsListChanged: "changes of its prompts",
  resourcesListChanged: "changes of its list of resources",
  resourceSubscriptions: "changes of a resource",
};

/** Tells what has happened; what is no notification stands on stderr. */
export function tellEvent(event: ListenEvent, at: Date, isJson: boolean, screen: Screen): void {
  switch (event.kind) {
    case "notification": {
      const { method, params } = event;
      if (isJson) screen.json({ at: at.toISOString(), method, params: params ?? null });
      else screen.result(formatEvent(at, method, params, screen));
      return;
    }
    case "missed":
      screen.warn("more has changed than could be told: read everything anew");
      return;
    case "resubscribed":
      screen.warn("the server was started again: what changed meanwhile was not told");
  }
}

function formatEvent(at: Date, method: string, params: unknown, { out }: Screen): string {
  const time = at.toTimeString().slice(0, 8);
  const facts = params === undefined ? "" : ` ${showLine(showJson(params))}`;
  return `${out.dim(time)} ${out.cyan(showLine(method, 200))}${facts}`;
}

async function tellEnd(listening: Listening, screen: Screen): Promise<ExitCode> {
  const end = await listening.ended;
  if (end === "lost") throw new UnusableServerError("Cannot listen any longer: the server has gone");
  if (end === "server") screen.note("the server has ended it");
  return EXIT.ok;
}
