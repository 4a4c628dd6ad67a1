// The server that the official conformance suite tests: ours, with the tools, resources and prompts it looks for.
import { serve, Server } from "@mcp/stdio/server";
import { MULTI_ROUND_PROMPTS, MULTI_ROUND_TOOLS } from "./multi_round.ts";
import { LEGACY_TOOLS } from "./legacy_tools.ts";
import { ProtocolError } from "@mcp/stdio/errors";
import type { ContentBlock, PromptDefinition, ResourceDefinition, ToolDefinition } from "@mcp/stdio/schema";

/** One red pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** A header, and no sound. */
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const image: ContentBlock = { type: "image", data: PNG, mimeType: "image/png" };

const TOOLS: { [name: string]: ToolDefinition } = {
  "test_simple_text": {
    description: "Gives a text",
    call: () => "This is a simple text response for testing.",
  },
  "test_image_content": { description: "Gives an image", call: () => image },
  "test_audio_content": {
    description: "Gives a sound",
    call: () => ({ type: "audio", data: WAV, mimeType: "audio/wav" }),
  },
  "test_embedded_resource": {
    description: "Gives a resource",
    call: () => embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  },
  "test_multiple_content_types": {
    description: "Gives a text, an image and a resource",
    call: () => [
      { type: "text", text: "Multiple content types test:" },
      image,
      embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  },
  "test_error_handling": {
    description: "Throws",
    call: () => {
      throw new Error("This tool intentionally returns an error for testing");
    },
  },
  "test_tool_with_progress": {
    description: "Reports progress three times",
    async call(_args, { progress, meta }) {
      for (const done of [0, 50, 100]) {
        progress(done, 100, `Completed step ${done} of 100`);
        await pause(50);
      }
      return String(meta.progressToken);
    },
  },
  "test_streaming_elicitation": {
    description: "Reports progress, and asks for nothing",
    call: (_args, { progress }) => {
      progress(50, 100);
      return "Streaming complete";
    },
  },
  "test_logging_tool": {
    description: "Logs, if it may",
    async call(_args, { log }) {
      await log("info", "Diagnostic trace logging activated");
      return "Logging evaluated";
    },
  },
  "test_missing_capability": {
    description: "Needs a client that can sample",
    call: (_args, { clientCapabilities }) => {
      if (clientCapabilities.sampling !== undefined) return "Success";
      throw new ProtocolError(-32021, "Missing required client capability", {
        requiredCapabilities: { sampling: {} },
      });
    },
  },
  "test_trigger_tool_change": {
    description: "Changes the list of tools",
    call: () => {
      server.addTool("added", { description: "Was added", call: () => "added" });
      return "Mutation triggered";
    },
  },
  "test_trigger_prompt_change": {
    description: "Changes the list of prompts",
    call: () => {
      server.addPrompt("added", { description: "Was added", get: () => "added" });
      return "Mutation triggered";
    },
  },
  "json_schema_2020_12_tool": {
    description: "Has a schema with keywords of JSON Schema 2020-12",
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: {
          $anchor: "addressDef",
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } },
        },
      },
      properties: {
        name: { type: "string" },
        address: { $ref: "#/$defs/address" },
        contactMethod: { type: "string", enum: ["phone", "email"] },
        phone: { type: "string" },
        email: { type: "string" },
      },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
      then: { required: ["phone"] },
      else: { required: ["email"] },
      additionalProperties: false,
    },
    call: (args) => `JSON Schema 2020-12 tool called with: ${JSON.stringify(args)}`,
  },
};

const RESOURCES: { [uri: string]: ResourceDefinition } = {
  "test://static-text": {
    name: "static-text",
    mimeType: "text/plain",
    read: () => "This is the content of the static text resource.",
  },
  "test://static-binary": {
    name: "static-binary",
    mimeType: "image/png",
    read: () => Uint8Array.from(atob(PNG), (char) => char.charCodeAt(0)),
  },
  "test://watched-resource": {
    name: "watched-resource",
    mimeType: "text/plain",
    read: () => "Watched resource content",
  },
  "test://template/{id}/data": {
    name: "template",
    mimeType: "application/json",
    read: ({ variables: { id } }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  },
};

const PROMPTS: { [name: string]: PromptDefinition } = {
  "test_simple_prompt": {
    description: "A prompt without arguments",
    get: () => "This is a simple prompt for testing.",
  },
  "test_prompt_with_arguments": {
    description: "A prompt with arguments",
    arguments: {
      arg1: { required: true, complete: (value) => ["test1", "test2"].filter((it) => it.startsWith(value)) },
      arg2: { required: true },
    },
    get: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  },
  "test_prompt_with_embedded_resource": {
    description: "A prompt with a resource in it",
    arguments: { resourceUri: { required: true } },
    get: ({ resourceUri }) => [
      {
        role: "user",
        content: embedded(resourceUri!, "text/plain", "Embedded resource content for testing."),
      },
      { role: "user", content: { type: "text", text: "Please process the embedded resource above." } },
    ],
  },
  "test_prompt_with_image": {
    description: "A prompt with an image",
    get: () => [
      { role: "user", content: image },
      { role: "user", content: { type: "text", text: "Please analyze the image above." } },
    ],
  },
};

const server = new Server({
  info: { name: "conformance", version: "1.0.0" },
  tools: { ...TOOLS, ...MULTI_ROUND_TOOLS, ...LEGACY_TOOLS },
  resources: RESOURCES,
  prompts: { ...PROMPTS, ...MULTI_ROUND_PROMPTS },
});
await serve(server);

function embedded(uri: string, mimeType: string, text: string): ContentBlock {
  return { type: "resource", resource: { uri, mimeType, text } };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
