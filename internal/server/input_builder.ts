import { isJSONObject } from "../../messages.ts";
import type { FormSchema, InputMethods, SamplingParams } from "../../methods.ts";
import type {
  InputRequest,
  InputRequiredResult,
  RequestContext,
  Schema,
  SchemaOutput,
  StandardSchemaV1,
} from "../../schema.ts";
import { toJSONSchema } from "../json_schema/schema_checker.ts";
import { isThenable } from "../thenable.ts";

/** What `inputRequired.elicit` takes: a form to be filled in, or a page to be visited. */
export type ElicitInput =
  | { mode?: "form" | undefined; message: string; requestedSchema: FormSchema | StandardSchemaV1 }
  | { mode: "url"; message: string; url: string };

/** What `inputRequired` takes. */
export interface InputRequiredOptions {
  /** What to ask, by keys of your choice; the answers come back under them. */
  inputRequests?: { [key: string]: InputRequest } | undefined;
  /** Comes back with the answers. It will have been in the client's hands: sign what must not be changed. */
  requestState?: string | undefined;
}

/** Makes results that ask for input, and what they ask. */
export interface InputRequiredBuilder {
  /**
   * Makes the result.
   *
   * @throws {TypeError} If it asks nothing and has no state.
   */
  (options: InputRequiredOptions): InputRequiredResult;
  /**
   * Asks the user to fill in a form, whose fields are of one level, or to visit a page.
   *
   * @throws {TypeError} If a Standard Schema cannot be a form.
   */
  elicit(input: ElicitInput): InputRequest;
  /** Asks the user's model. */
  sampling(params: SamplingParams): InputRequest;
  /** Asks where the user lets servers work. */
  roots(): InputRequest;
}

/**
 * Makes a result that asks the client for input, in place of an answer. The handler is called again with what the client says:
 * see {@linkcode acceptedContent}.
 *
 * @example A tool that asks who calls
 * ```ts
 * import type { FormSchema } from "@mcp/stdio/methods";
 * import { acceptedContent, inputRequired, type RequestContext } from "@mcp/stdio/server";
 * import assert from "node:assert/strict";
 *
 * const form: FormSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
 * const greet = {
 *   call(_args: unknown, context: Pick<RequestContext, "inputResponses">) {
 *     const answer = acceptedContent(context, "user");
 *     if (answer !== undefined) return `Hello, ${answer.name}!`;
 *     if (context.inputResponses !== undefined) return "Hello, whoever you are!";
 *     return inputRequired({
 *       inputRequests: {
 *         user: inputRequired.elicit({ message: "Who are you?", requestedSchema: form }),
 *       },
 *     });
 *   },
 * };
 * const inputResponses = { user: { action: "accept", content: { name: "Ada" } } };
 * assert.equal(greet.call({}, { inputResponses }), "Hello, Ada!");
 * ```
 */
export const inputRequired: InputRequiredBuilder = Object.assign(
  ({ inputRequests, requestState }: InputRequiredOptions): InputRequiredResult => {
    if (inputRequests === undefined && requestState === undefined) {
      throw new TypeError(`Cannot ask for input: "inputRequests" or "requestState" must be given`);
    }
    return {
      resultType: "input_required",
      ...(inputRequests === undefined ? {} : { inputRequests }),
      ...(requestState === undefined ? {} : { requestState }),
    };
  },
  {
    elicit(input: ElicitInput): InputRequest {
      if (input.mode === "url") return { method: "elicitation/create", params: { ...input } };
      const { message, requestedSchema } = input;
      return {
        method: "elicitation/create",
        params: { mode: "form", message, requestedSchema: toFormSchema(requestedSchema) },
      };
    },
    sampling: (params: SamplingParams): InputRequest => ({ method: "sampling/createMessage", params }),
    roots: (): InputRequest => ({ method: "roots/list" }),
  },
);

/**
 * What a user has filled in, if the user agreed: the content of the answer under a key, as a schema gives it back. Undefined if there
 * is no such answer, the user did not agree, or the content does not fit the schema. Without a schema nothing is checked: it
 * comes from the client.
 *
 * @throws {TypeError} If the schema answers later.
 */
export function acceptedContent<S extends StandardSchemaV1>(
  context: Pick<RequestContext, "inputResponses">,
  key: string,
  schema: S,
): SchemaOutput<S> | undefined;
/** The same, without a check. */
export function acceptedContent(
  context: Pick<RequestContext, "inputResponses">,
  key: string,
): NonNullable<InputMethods["elicitation/create"]["result"]["content"]> | undefined;
export function acceptedContent(
  { inputResponses = {} }: Pick<RequestContext, "inputResponses">,
  key: string,
  schema?: StandardSchemaV1,
): unknown {
  const answer = Object.hasOwn(inputResponses, key) ? inputResponses[key] : undefined;
  if (answer?.action !== "accept" || !isJSONObject(answer.content)) return undefined;
  if (schema === undefined) return answer.content;
  const result = schema["~standard"].validate(answer.content);
  if (isThenable(result)) throw new TypeError(`Cannot read the answer "${key}": its schema answers later`);
  return result.issues === undefined ? result.value : undefined;
}

/** Keywords that a form has; the rest of what a library says of an object is left out. */
function toFormSchema(schema: FormSchema | StandardSchemaV1): FormSchema {
  const { type, properties, required } = toJSONSchema(schema as Schema, "input", "the form");
  if (type !== "object" || !isJSONObject(properties)) {
    throw new TypeError("Cannot ask with the form: its schema must be an object with properties");
  }
  const deep = Object.entries(properties).find(([, field]) => !isField(field));
  if (deep !== undefined) {
    throw new TypeError(
      `Cannot ask with the form: "${deep[0]}" is no field: a text, a number, a boolean or a choice`,
    );
  }
  const form: FormSchema = { type: "object", properties: properties as FormSchema["properties"] };
  return required === undefined ? form : { ...form, required: required as string[] };
}

function isField(field: unknown): boolean {
  if (!isJSONObject(field)) return false;
  const { type, items } = field;
  if (type === "array") return isJSONObject(items) && (items.enum !== undefined || items.anyOf !== undefined);
  return type === "string" || type === "number" || type === "integer" || type === "boolean";
}
