/** Lines on a server's stdout that have no place there, or not now. */

import { SECRET } from "./_model_handlers.ts";
import type { Life } from "./_model_life.ts";
import type { LINES } from "./_model_schedule.ts";
import { bytesOf } from "./helpers.ts";

/** What a line needs to know of the requests that the server has read. */
export interface LineWorld {
  /** Ids of requests that wait for their answers. */
  readonly open: readonly (string | number)[];
  /** Ids of requests that have been answered, or given up. */
  readonly closed: readonly (string | number)[];
  readonly maxLineBytes: number;
}

/**
 * The bytes of a line, and the id of the request that it may cost, if it is one's own doing. Nothing here may cost any other
 * request, but what `spoils` says: the frame that comes next.
 */
export interface OddLine {
  readonly bytes: string | Uint8Array;
  readonly costs?: string | number | undefined;
  readonly spoils?: boolean;
}

/** Makes a line. */
export function makeLine(name: typeof LINES[number], pick: number, world: LineWorld): OddLine {
  const open = world.open[pick % Math.max(1, world.open.length)];
  const closed = world.closed[pick % Math.max(1, world.closed.length)] ?? "none";
  const line = (message: object): OddLine => ({
    bytes: `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`,
  });
  switch (name) {
    case "text":
      return { bytes: `loading { "id": 1 }\n` };
    case "blank":
      return { bytes: "\n \t\r\n\n" };
    case "marks":
      return { bytes: "\0\0\ufeff\n\0" };
    case "utf16":
      return { bytes: Uint8Array.from([..."loading\n"].flatMap((letter) => [letter.charCodeAt(0), 0])) };
    case "bad_utf8":
      return { bytes: bytesOf([0xff, 0xfe], "x\n") };
    case "too_long":
      return world.maxLineBytes > 100_000
        ? { bytes: "\n" }
        : { bytes: `${"l".repeat(world.maxLineBytes + 1)}\n` };
    case "half":
      return { bytes: `building 10%\rbuilding 100% {`, spoils: true };
    case "content_length":
      return { bytes: "Content-Length: 12\r\n\r\n" };
    case "unknown_id":
      return line({ id: 1_000_000 + pick, result: { [SECRET]: SECRET } });
    case "text_id":
      return line({ id: String(open ?? closed), result: { resultType: "complete" } });
    case "late_answer":
      return line({ id: closed, result: { content: [{ type: "text", text: SECRET }] } });
    case "null_error":
      return line({ id: null, error: { code: -32601, message: SECRET } });
    case "null_parse_error":
      // It says that a request could not be read: where that can be only one, that one fails.
      return { ...line({ id: null, error: { code: -32700, message: SECRET } }), spoils: true };
    case "server_request":
      return line({ id: `s${pick}`, method: "x/unknown", params: {} });
    case "ping":
      return line({ id: `p${pick}`, method: "ping" });
    case "question":
      return line({ id: `q${pick}`, method: "elicitation/create", params: { message: SECRET } });
    case "unknown_progress":
      return line({ method: "notifications/progress", params: { progressToken: 2_000_000, progress: 1 } });
    case "old_progress":
      return line({ method: "notifications/progress", params: { progressToken: closed, progress: 1 } });
    case "notification":
      return line({ method: "notifications/message", params: { level: "info", data: SECRET } });
    case "cancelled":
      return {
        ...line({ method: "notifications/cancelled", params: { requestId: open ?? closed } }),
        costs: open,
      };
    case "cancelled_unknown":
      return line({
        method: "notifications/cancelled",
        params: { requestId: 3_000_000, reason: "shutting down" },
      });
    case "batch":
      return {
        bytes:
          `[1,{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":4000000,"result":{}}]\n`,
      };
    case "bad_answer":
      return { ...line({ id: open ?? closed, result: SECRET }), costs: open };
    case "both":
      return { ...line({ id: open ?? closed, result: {}, error: { code: 1, message: "" } }), costs: open };
    case "deep":
      return { bytes: `${"[".repeat(700)}${"]".repeat(700)}\n` };
    case "many":
      return { bytes: "x\n".repeat(500) };
  }
}

/** What the server of a life has read and answered so far. */
export function requestsOf(life: Life): { open: (string | number)[]; closed: (string | number)[] } {
  const closed = new Set<string | number>();
  for (const { messages } of life.written) {
    for (const { id, method } of messages) {
      if (method === undefined && id !== undefined && id !== null) closed.add(id);
    }
  }
  for (const { messages } of life.read) {
    for (const { method, params } of messages) {
      if (method === "notifications/cancelled") closed.add(params?.["requestId"] as string | number);
    }
  }
  const asked = life.read.flatMap(({ messages }) =>
    messages.flatMap(({ id, method }) => method !== undefined && id !== undefined && id !== null ? [id] : [])
  );
  return { open: asked.filter((id) => !closed.has(id)), closed: asked.filter((id) => closed.has(id)) };
}
