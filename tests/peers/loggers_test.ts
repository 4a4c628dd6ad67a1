// Loggers that people have: each is given as it is and keeps what went wrong, and with what the docs say all details (XF7).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { test } from "node:test";
import { configure, getLogger, getTextFormatter, jsonLinesFormatter, reset } from "@logtape/logtape";
import type { Logger } from "@mcp/stdio/logger";
import { Server } from "@mcp/stdio/server";
import { createStreamPair } from "@mcp/stdio/testing";
import { Client } from "@mcp/stdio/client";
import { pino, stdSerializers } from "pino";
import winston from "winston";
import { waitUntil } from "../helpers.ts";
import { ROOT } from "./harness.ts";

/** Has a handler of a server fail, and gives what its logger has written. */
async function logFailure(logger: Logger, written: () => string): Promise<string> {
  const [ours, theirs] = createStreamPair();
  const server = new Server({
    info: { name: "fails", version: "1" },
    logger,
    handlers: {
      "acme/fail": () => {
        throw new Error("the disk is on fire");
      },
    },
  });
  const ended = server.run(theirs);
  const client = await Client.connect(ours);
  await assert.rejects(client.request("acme/fail", {}), { code: -32603 });
  await client.close();
  await ended;
  await waitUntil(() => written().includes("acme/fail"));
  return written();
}

/** A stream that keeps what is written. */
function collect(): { stream: Writable; text: () => string } {
  let text = "";
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  return { stream, text: () => text };
}

const CAUSE = /the handler of \\?"acme\/fail\\?" has failed: the disk is on fire/;

test("pino keeps what went wrong (XF7)", async () => {
  const { stream, text } = collect();
  assert.match(await logFailure(pino({}, stream), text), CAUSE);
});

test("pino keeps all details with what the docs say (XF7)", async () => {
  const { stream, text } = collect();
  const log = pino({ serializers: { error: stdSerializers.err } }, stream);
  // These lines stand in the docs.
  const logger: Logger = {
    debug: (text, details) => log.debug(details, text),
    info: (text, details) => log.info(details, text),
    warn: (text, details) => log.warn(details, text),
    error: (text, details) => log.error(details, text),
  };
  const line = JSON.parse(await logFailure(logger, text));
  assert.match(line.msg, CAUSE);
  assert.match(line.error.stack, /^Error: the disk is on fire\n\s+at /);
  const own = readFileSync(join(ROOT, "tests/peers/loggers_test.ts"), "utf8");
  const [lines = ""] = /const logger: Logger = \{\n(?: {4}\w+: \(text, details\).*\n){4}/.exec(own) ?? [];
  const inDocs = lines.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  assert.equal(inDocs.length, 5);
  for (const line of inDocs) assert.ok(readFileSync(join(ROOT, "logger.ts"), "utf8").includes(line), line);
});

for (
  const [name, format] of [["json", winston.format.json()], ["simple", winston.format.simple()]] as const
) {
  test(`winston in its ${name} format keeps what went wrong (XF7)`, async () => {
    const { stream, text } = collect();
    const logger = winston.createLogger({ format, transports: [new winston.transports.Stream({ stream })] });
    assert.match(await logFailure(logger, text), CAUSE);
  });
}

test("LogTape keeps what went wrong as text, and all details as JSON (XF7)", async (t) => {
  t.after(() => reset());
  const texts: string[] = [];
  const lines: string[] = [];
  await configure({
    sinks: {
      text: (record) => void texts.push(getTextFormatter()(record)),
      json: (record) => void lines.push(jsonLinesFormatter(record)),
    },
    loggers: [
      { category: "mcp", lowestLevel: "debug", sinks: ["text", "json"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: [] },
    ],
  });
  assert.match(await logFailure(getLogger("mcp"), () => texts.join("")), CAUSE);
  const line = JSON.parse(lines.find((line) => line.includes("acme/fail")) ?? "{}");
  assert.match(line.properties.error.stack, /^Error: the disk is on fire\n\s+at /);
});

/** The logger of `@std/log` as it was last published, as far as handlers see it: its formatter drops the arguments. */
class StdLogger {
  readonly lines: string[] = [];

  #log<T>(level: string, message: T extends () => unknown ? never : T, args: unknown[]): T {
    const record = { levelName: level, msg: String(message), args };
    this.lines.push(`${record.levelName} ${record.msg}`);
    return message;
  }

  debug<T>(message: T extends () => unknown ? never : T, ...args: unknown[]): T {
    return this.#log("DEBUG", message, args);
  }

  info<T>(message: T extends () => unknown ? never : T, ...args: unknown[]): T {
    return this.#log("INFO", message, args);
  }

  warn<T>(message: T extends () => unknown ? never : T, ...args: unknown[]): T {
    return this.#log("WARN", message, args);
  }

  error<T>(message: T extends () => unknown ? never : T, ...args: unknown[]): T {
    return this.#log("ERROR", message, args);
  }
}

test("A logger of the shape of @std/log's keeps what went wrong (XF7)", async () => {
  const logger = new StdLogger();
  assert.match(await logFailure(logger, () => logger.lines.join("\n")), CAUSE);
});

test("console keeps what went wrong and all details (XF7)", async () => {
  const said: unknown[][] = [];
  const error = (...args: unknown[]) => void said.push(args);
  const logger: Logger = { ...console, error };
  assert.match(await logFailure(logger, () => said.map(([text]) => text).join()), CAUSE);
  assert.ok((said[0]?.[1] as { error: unknown }).error instanceof Error);
});
