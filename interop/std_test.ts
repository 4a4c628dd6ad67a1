import { assertEquals, assertRejects } from "@std/assert";
import { TextLineStream } from "@std/streams";
import { FakeTime } from "@std/testing/time";
import { Client } from "@mcp/stdio/client.ts";
import { RequestTimeoutError } from "@mcp/stdio/errors.ts";
import { MessageEncoderStream } from "@mcp/stdio/framing.ts";
import type { Logger } from "@mcp/stdio/logger.ts";
import type { JSONRPCMessage } from "@mcp/stdio/messages.ts";
import { Server } from "@mcp/stdio/server.ts";
import { createStreamPair } from "@mcp/stdio/testing.ts";

Deno.test("MessageEncoderStream writes what TextLineStream of @std/streams reads", async () => {
  const messages: JSONRPCMessage[] = [
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { text: "first\nsecond\r\n\u2028" } },
    { jsonrpc: "2.0", id: "1", result: {} },
  ];
  const lines = ReadableStream.from(messages)
    .pipeThrough(new MessageEncoderStream())
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new TextLineStream());
  assertEquals((await Array.fromAsync(lines)).map((line) => JSON.parse(line)), messages);
});

Deno.test("FakeTime of @std/testing drives a request's timeout", async () => {
  const server = new Server({ info: { name: "silent", version: "1.0.0" }, handlers: { wait: () => new Promise(() => {}) } });
  const [here, there] = createStreamPair();
  const running = server.run(there);
  const client = await Client.connect(here);
  {
    using time = new FakeTime();
    const rejected = assertRejects(() => client.request("wait"), RequestTimeoutError);
    await time.tickAsync(60_000);
    await rejected;
  }
  await client.close();
  await running;
});

Deno.test("a console-like logger takes what the module says", async () => {
  const lines: string[] = [];
  const logger: Logger = { ...console, warn: (line: string) => lines.push(line) };
  const server = new Server({ info: { name: "quiet", version: "1.0.0" }, logger });
  const [here, there] = createStreamPair();
  const running = server.run(there);
  const writer = here.writable.getWriter();
  await writer.write(new TextEncoder().encode("not json\n"));
  await writer.close();
  await here.readable.pipeTo(new WritableStream());
  await running;
  assertEquals(lines, ["[mcp_router] dropped a line: the line is not valid JSON"]);
});
