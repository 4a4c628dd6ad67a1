/** The tools of the conformance server for the legacy era: they ask and log while they run. */

import type { JSONObject } from "@mcp/stdio/messages";
import type { RequestContext, ToolDefinition } from "@mcp/stdio/schema";

/** Tools by the names the suite looks for. */
export const LEGACY_TOOLS: { [name: string]: ToolDefinition } = {
  "test_tool_with_logging": {
    description: "Logs three times",
    async call(_args, { log }) {
      for (const text of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await log("info", text);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return "Tool with logging executed successfully";
    },
  },
  "test_sampling": {
    description: "Asks a model",
    inputSchema: strings("prompt"),
    async call({ prompt }, context) {
      const messages = [{ role: "user", content: { type: "text", text: prompt } }];
      const { content } = await context.requestInput("sampling/createMessage", { messages, maxTokens: 100 });
      return `LLM response: ${(content as { text?: string }).text}`;
    },
  },
  "test_elicitation": {
    description: "Asks the user",
    inputSchema: strings("message"),
    async call({ message }, context) {
      const { action, content } = await elicit(context, String(message), strings("response"));
      return `User response: action=${action}, content=${JSON.stringify(content ?? {})}`;
    },
  },
  "test_elicitation_sep1034_defaults": {
    description: "Asks the user, with defaults",
    call: (_args, context) =>
      complete(context, "Please review and update the form fields with defaults", {
        name: { type: "string", description: "User name", default: "John Doe" },
        age: { type: "integer", description: "User age", default: 30 },
        score: { type: "number", description: "User score", default: 95.5 },
        status: {
          type: "string",
          description: "User status",
          enum: ["active", "inactive", "pending"],
          default: "active",
        },
        verified: { type: "boolean", description: "Verification status", default: true },
      }),
  },
  "test_elicitation_sep1330_enums": {
    description: "Asks the user to choose",
    call: (_args, context) =>
      complete(context, "Please select options from the enum fields", {
        untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
        titledSingle: { type: "string", oneOf: titled("Option") },
        legacyEnum: {
          type: "string",
          enum: ["opt1", "opt2", "opt3"],
          enumNames: ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti: several({ type: "string", enum: ["option1", "option2", "option3"] }),
        titledMulti: several({ anyOf: titled("Choice") }),
      }),
  },
};

function strings(name: string): JSONObject {
  return { type: "object", properties: { [name]: { type: "string" } }, required: [name] };
}

function several(items: JSONObject): JSONObject {
  return { type: "array", minItems: 1, maxItems: 3, items };
}

function titled(noun: string): JSONObject[] {
  return ["First", "Second", "Third"].map((nth, index) => ({
    const: `value${index + 1}`,
    title: `${nth} ${noun}`,
  }));
}

function elicit(context: RequestContext, message: string, requestedSchema: JSONObject): Promise<JSONObject> {
  return context.requestInput("elicitation/create", { message, requestedSchema });
}

async function complete(context: RequestContext, message: string, properties: JSONObject): Promise<string> {
  const { action, content } = await elicit(context, message, { type: "object", properties, required: [] });
  return `Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`;
}
