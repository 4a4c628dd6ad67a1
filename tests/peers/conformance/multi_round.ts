/** The tools and the prompt of the conformance server that need another round: they ask the client first (SEP-2322). */

import { createHmac, randomUUID } from "node:crypto";
import { ErrorCode, type JSONObject } from "@mcp/stdio/messages";
import { ProtocolError } from "@mcp/stdio/errors";
import type { FormField, FormSchema } from "@mcp/stdio/methods";
import type {
  InputRequest,
  InputRequiredResult,
  PromptDefinition,
  RequestContext,
  ToolDefinition,
} from "@mcp/stdio/schema";
import { inputRequired } from "@mcp/stdio/server";

const SECRET = randomUUID();

/** Tools, each named for what it asks for. */
export const MULTI_ROUND_TOOLS: { [name: string]: ToolDefinition } = {
  "test_input_required_result_elicitation": {
    description: "Asks for a name",
    call: (_args, context) => {
      const { name } = contentOf(context, "user_name");
      return name === undefined
        ? ask({ user_name: elicit("What is your name?", "name") })
        : `Hello, ${name}!`;
    },
  },
  "test_input_required_result_sampling": {
    description: "Asks for a text of a model",
    call: (_args, context) => {
      const { content } = answerOf(context, "capital_question");
      if (content !== undefined) return (content as { text: string }).text;
      return ask({ capital_question: sample("What is the capital of France?") });
    },
  },
  "test_input_required_result_list_roots": {
    description: "Asks for the roots",
    call: (_args, context) => {
      const { roots } = answerOf(context, "client_roots");
      if (roots !== undefined) return `Found ${(roots as unknown[]).length} root(s)`;
      return ask({ client_roots: { method: "roots/list", params: {} } });
    },
  },
  "test_input_required_result_request_state": {
    description: "Asks with a state",
    call: (_args, context) => {
      const { ok } = contentOf(context, "confirm");
      if (ok === true && stateOf(context).kind === "request-state") return "state-ok: requestState validated";
      return ask({ confirm: elicit("Please confirm", "ok", "boolean") }, { kind: "request-state" });
    },
  },
  "test_input_required_result_multiple_inputs": {
    description: "Asks for three things at once",
    call: (_args, context) => {
      const { name } = contentOf(context, "user_name");
      const { content } = answerOf(context, "greeting");
      const { roots } = answerOf(context, "client_roots");
      if (name !== undefined && content !== undefined && roots !== undefined) {
        return `Name: ${name}; Greeting: ${(content as { text: string }).text}; Roots: ${
          (roots as []).length
        }`;
      }
      return ask({
        user_name: elicit("What is your name?", "name"),
        greeting: sample("Generate a greeting"),
        client_roots: { method: "roots/list", params: {} },
      }, { kind: "multiple-inputs" });
    },
  },
  "test_input_required_result_multi_round": {
    description: "Asks twice",
    call: (_args, context) => {
      const { round, name } = stateOf(context);
      const { color } = contentOf(context, "step2");
      if (round === 2 && color !== undefined) return `Multi-round complete for ${name} who likes ${color}`;
      const { name: given } = contentOf(context, "step1");
      if (round === 1 && given !== undefined) {
        const step2 = elicit("Step 2: What is your favorite color?", "color");
        return ask({ step2 }, { round: 2, name: given });
      }
      return ask({ step1: elicit("Step 1: What is your name?", "name") }, { round: 1 });
    },
  },
  "test_input_required_result_tampered_state": {
    description: "Asks with a state that cannot be forged",
    call: (_args, context) => {
      if (context.requestState === undefined) {
        return ask({ confirm: elicit("Please confirm", "ok", "boolean") }, { kind: "tamper-test" });
      }
      stateOf(context);
      return "integrity-ok: state verified";
    },
  },
  "test_input_required_result_capabilities": {
    description: "Asks for what the client can give",
    call: (_args, context) => {
      const { elicitation, sampling } = context.clientCapabilities;
      const requests = {
        ...(elicitation === undefined ? {} : { elicit_input: elicit("Elicitation input", "value") }),
        ...(sampling === undefined ? {} : { sample_input: sample("Sample request") }),
      };
      const answers = Object.keys(context.inputResponses ?? {});
      if (answers.length > 0) return `capabilities-ok: received ${answers.join(",")}`;
      return Object.keys(requests).length > 0 ? ask(requests) : "No supported capabilities declared";
    },
  },
};

/** A prompt that asks, too. */
export const MULTI_ROUND_PROMPTS: { [name: string]: PromptDefinition } = {
  "test_input_required_result_prompt": {
    description: "Asks what it is about",
    get: (_args, context) => {
      const { context: given } = contentOf(context, "user_context");
      if (given !== undefined) return `Prompt with context: ${given}`;
      return ask({ user_context: elicit("What context should the prompt use?", "context") });
    },
  },
};

function ask(inputRequests: { [key: string]: InputRequest }, state?: JSONObject): InputRequiredResult {
  return {
    resultType: "input_required",
    inputRequests,
    ...(state === undefined ? {} : { requestState: sign({ ...state, nonce: randomUUID() }) }),
  };
}

function elicit(message: string, name: string, type: FormField["type"] = "string"): InputRequest {
  const properties = { [name]: { type } as FormField };
  const requestedSchema: FormSchema = { type: "object", properties, required: [name] };
  return inputRequired.elicit({ message, requestedSchema });
}

function sample(text: string): InputRequest {
  return inputRequired.sampling({
    messages: [{ role: "user", content: { type: "text", text } }],
    maxTokens: 100,
  });
}

function answerOf({ inputResponses }: RequestContext, key: string): JSONObject {
  return inputResponses?.[key] ?? {};
}

function contentOf(context: RequestContext, key: string): JSONObject {
  return (answerOf(context, key).content ?? {}) as JSONObject;
}

function sign(state: JSONObject): string {
  const data = JSON.stringify(state);
  return `${createHmac("sha256", SECRET).update(data).digest("hex")} ${data}`;
}

/** The state of the round before; what was not signed here is refused. */
function stateOf({ requestState }: RequestContext): JSONObject {
  if (requestState === undefined) return {};
  const data = requestState.slice(requestState.indexOf(" ") + 1);
  if (requestState !== `${createHmac("sha256", SECRET).update(data).digest("hex")} ${data}`) {
    throw new ProtocolError(ErrorCode.invalidParams, "The requestState is not the one that was given out");
  }
  return JSON.parse(data) as JSONObject;
}
