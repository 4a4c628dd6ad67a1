// The blocks of docs/stdout.md about loggers: each is given to a server with a tool that fails, and writes why.
import { configure, getJsonLinesFormatter, getLogger } from "@logtape/logtape";
import { Client } from "@mcp/stdio/client";
import type { Logger } from "@mcp/stdio/logger";
import { Server } from "@mcp/stdio/server";
import { createStreamPair } from "@mcp/stdio/testing";
import assert from "node:assert/strict";
import process from "node:process";
import pino from "pino";
import winston from "winston";

/** What is written to stderr is kept, to be looked at. */
const kept: string[] = [];
const write = process.stderr.write;
process.stderr.write = (text: string | Uint8Array): boolean => kept.push(String(text)) > 0;

//#region pino
const sink = pino({ serializers: { error: pino.stdSerializers.err } }, process.stderr);
const byPino: Logger = {
  // pino takes the details first, and drops what stands behind the text.
  debug: (text, details) => sink.debug(details, text),
  info: (text, details) => sink.info(details, text),
  warn: (text, details) => sink.warn(details, text),
  error: (text, details) => sink.error(details, text),
};
//#endregion

//#region logtape
const format = getJsonLinesFormatter();
await configure({
  sinks: { stderr: (record) => void process.stderr.write(format(record)) },
  loggers: [
    { category: "mcp", sinks: ["stderr"], lowestLevel: "info" },
    { category: ["logtape", "meta"], sinks: ["stderr"], lowestLevel: "warning" },
  ],
});
const byLogTape: Logger = getLogger("mcp"); // fits as it is
//#endregion

//#region winston
const byWinston: Logger = winston.createLogger({
  format: winston.format.json({ replacer: (_key, value) => value instanceof Error ? value.stack : value }),
  transports: [new winston.transports.Stream({ stream: process.stderr })], // Console writes to stdout
});
//#endregion

for (const logger of [byPino, byLogTape, byWinston]) {
  const server = new Server({
    info: { name: "fails", version: "1.0.0" },
    handlers: { "files/count": () => Promise.reject(new Error("the disk is full")) },
    logger,
  });
  const [here, there] = createStreamPair();
  server.run(there);
  const client = await Client.connect(here);
  await assert.rejects(client.request("files/count"), { code: -32603, message: "Internal error" });
  await client.close();
}
process.stderr.write = write;
const told = kept.filter((line) => line.includes("has failed") && line.includes("the disk is full"));
assert.equal(told.length, 3, kept.join(""));
