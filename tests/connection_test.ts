// What a client and a server send over a connection that somebody else has made, and over one of ours.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "../client.ts";
import type { Connection } from "../connection.ts";
import { type JSONRPCMessage, MetaKey, type Params } from "../messages.ts";
import { Server } from "../server.ts";
import { createConnectionPair } from "../testing.ts";

test("Client and Server give whole messages to a connection that is not of this module", async () => {
  const [here, there] = createConnectionPair();
  const sent: JSONRPCMessage[] = [];
  const wrap = (connection: Connection): Connection => ({
    receive: () => connection.receive(),
    send(message) {
      sent.push(message as JSONRPCMessage);
      return connection.send(message);
    },
    get inputError() {
      return connection.inputError;
    },
    get queuedBytes() {
      return connection.queuedBytes;
    },
    get full() {
      return connection.full;
    },
    drained: () => connection.drained(),
    flushed: () => connection.flushed(),
    cancelInput: (reason) => connection.cancelInput(reason),
    close: () => connection.close(),
    abort: (reason) => connection.abort(reason),
    closed: connection.closed,
  });
  const server = new Server({ info: { name: "s", version: "1" }, tools: { hello: { call: () => "hello" } } });
  const running = server.run(wrap(there));
  const client = await Client.connect(wrap(here));
  const result = await client.request("tools/call", { name: "hello" });
  await client.close();
  await running;
  const [asked, answered] = sent.slice(-2) as unknown as [{ params: Params }, { result: Params }];
  assert.deepEqual(Object.keys(asked.params["_meta"] as object), [
    MetaKey.protocolVersion,
    MetaKey.clientInfo,
    MetaKey.clientCapabilities,
  ]);
  assert.deepEqual(answered.result, result);
  assert.equal(result["resultType"], "complete");
  assert.deepEqual((result["_meta"] as Params)[MetaKey.serverInfo], { name: "s", version: "1" });
});
