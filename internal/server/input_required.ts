/** Results that ask for input: how a handler makes one, and what comes of it. */

import { ProtocolError } from "../../errors.ts";
import {
  type ClientCapabilities,
  ErrorCode,
  isJSONObject,
  type JSONObject,
  type Params,
  type Result,
} from "../../messages.ts";
import type { ActiveRequest } from "./active_request.ts";
import { isThenable } from "../promises.ts";
import type { Handler } from "./settings.ts";
import { invalidParams } from "./error_answers.ts";
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

/** The requests whose result may ask for input (multi round-trip page). */
const ASKING_METHODS: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** As often as a handler may ask a legacy client before it has to answer. */
const MAX_ROUNDS = 10;

/** One thing that the client is asked for. */
type InputEntry = readonly [key: string, method: string, params: Params];

/** Whether a result asks for input rather than answers. */
export function isInputRequired(result: Result | undefined): boolean {
  return result?.resultType === "input_required";
}

/**
 * Calls a handler. In the legacy era there is no result that asks for input: the client is asked by requests of the
 * server's own, and the handler called again with what it answered, as a modern client would have done it.
 *
 * @throws {ProtocolError} -32602 if what the client brings for a retry is malformed.
 */
export function callHandler(handler: Handler, request: ActiveRequest): Result | PromiseLike<Result> {
  const { inputResponses, requestState } = request.params;
  if (inputResponses !== undefined) checkInputResponses(inputResponses);
  if (requestState !== undefined && typeof requestState !== "string") {
    throw invalidParams(`"requestState" is not a string`);
  }
  const outcome = handler(request.params, request);
  if (request.era === "modern") return outcome;
  if (isThenable(outcome)) return outcome.then((result) => goOn(handler, request, result));
  return isInputRequired(outcome) ? askInRounds(handler, request, outcome) : outcome;
}

/**
 * Reads what a result asks the client for.
 *
 * @throws {TypeError} If the result may not be given, by the method or by its own form.
 * @throws {ProtocolError} -32021 if the client has not declared that it can answer.
 */
export function readInputRequests(
  { method, clientCapabilities }: Pick<ActiveRequest, "method" | "clientCapabilities">,
  { inputRequests, requestState }: Result,
): InputEntry[] {
  if (!ASKING_METHODS.has(method)) {
    throw new TypeError(`"${method}" cannot be answered with "input_required"`);
  }
  if (inputRequests === undefined && requestState === undefined) {
    throw new TypeError(`An "input_required" result needs "inputRequests" or "requestState"`);
  }
  if (requestState !== undefined && typeof requestState !== "string") {
    throw new TypeError(`The "requestState" of an "input_required" result is not a string`);
  }
  if (inputRequests !== undefined && !isJSONObject(inputRequests)) {
    throw new TypeError(`The "inputRequests" of an "input_required" result are not an object`);
  }
  const requests = Object.entries(inputRequests ?? {}).map(readInputRequest);
  const required = requests.map(([, method, params]) => requiredCapabilities(method, params));
  checkCapabilities(required, clientCapabilities);
  return requests;
}

/**
 * Checks that the client can be asked something, before it is.
 *
 * @throws {ProtocolError} -32021 if it has not declared that it can answer.
 */
export function checkCanAsk(method: string, params: Params, declared: ClientCapabilities): void {
  checkCapabilities([requiredCapabilities(method, params) ?? {}], declared);
}

function goOn(handler: Handler, request: ActiveRequest, result: Result): Result | Promise<Result> {
  return isInputRequired(result) ? askInRounds(handler, request, result) : result;
}

async function askInRounds(handler: Handler, request: ActiveRequest, first: Result): Promise<Result> {
  const { inputResponses: _responses, requestState: _state, ...original } = request.params;
  let result = first;
  for (let round = 0; isInputRequired(result); round++) {
    if (round === MAX_ROUNDS) {
      throw new ProtocolError(
        ErrorCode.internalError,
        `The request still asks for input after ${MAX_ROUNDS} rounds`,
      );
    }
    const { requestState } = result;
    const answers = await Promise.all(
      readInputRequests(request, result).map(async ([key, method, params]) =>
        [key, await request.requestInput(method, toLegacyParams(method, params))] as const
      ),
    );
    request.retryWith({
      ...original,
      ...(answers.length === 0 ? {} : { inputResponses: Object.fromEntries(answers) }),
      ...(requestState === undefined ? {} : { requestState }),
    });
    result = await handler(request.params, request);
  }
  return result;
}

/** Revision 2025-11-25 wants an id for what is asked by URL. */
function toLegacyParams(method: string, params: Params): Params {
  if (method !== "elicitation/create" || params.mode !== "url") return params;
  return { elicitationId: crypto.randomUUID(), ...params };
}

function readInputRequest([key, request]: [string, unknown]): InputEntry {
  if (!isJSONObject(request) || typeof request.method !== "string") {
    throw new TypeError(`The input request "${key}" has no "method"`);
  }
  const { method, params = {} } = request;
  if (!isJSONObject(params)) {
    throw new TypeError(`The "params" of the input request "${key}" are not an object`);
  }
  if (requiredCapabilities(method, params) === undefined) {
    throw new TypeError(`The input request "${key}" cannot ask for "${method}"`);
  }
  return [key, method, params];
}

/** What a client must have declared to be asked; undefined for what modern clients are never asked. */
function requiredCapabilities(method: string, params: Params): ClientCapabilities | undefined {
  switch (method) {
    case "elicitation/create":
      return { elicitation: { [params.mode === "url" ? "url" : "form"]: {} } };
    case "sampling/createMessage":
      return {
        sampling: params.tools === undefined && params.toolChoice === undefined ? {} : { tools: {} },
      };
    case "roots/list":
      return { roots: {} };
    default:
      return undefined;
  }
}

function checkCapabilities(
  required: ReadonlyArray<ClientCapabilities | undefined>,
  declared: ClientCapabilities,
): void {
  const missing: { [name: string]: JSONObject } = {};
  for (const [name, wanted] of required.flatMap((capabilities) => Object.entries(capabilities ?? {}))) {
    if (!isDeclared(name, wanted as JSONObject, declared)) {
      missing[name] = { ...missing[name], ...wanted as JSONObject };
    }
  }
  const names = Object.keys(missing);
  if (names.length === 0) return;
  throw new ProtocolError(
    ErrorCode.missingRequiredClientCapability,
    `Missing required client capability: ${names.join(", ")}`,
    { requiredCapabilities: missing },
  );
}

function isDeclared(name: string, wanted: JSONObject, declared: ClientCapabilities): boolean {
  const has = (declared as { [name: string]: unknown })[name];
  if (!isJSONObject(has)) return false;
  // An elicitation capability that names no mode means forms (elicitation page).
  const modes = name === "elicitation" && has.form === undefined && has.url === undefined
    ? { form: {} }
    : has;
  return Object.keys(wanted).every((member) => isJSONObject(modes[member]));
}

function checkInputResponses(inputResponses: unknown): void {
  if (isJSONObject(inputResponses) && Object.values(inputResponses).every(isJSONObject)) return;
  throw invalidParams(`"inputResponses" is not an object of results`);
}

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
 * The form that a user has filled in, by its key in `inputRequests`. `undefined` if there is no such answer, if the user did not
 * agree, or if the content does not fit the schema. With a schema the content is checked, and typed by it; without one nothing is
 * checked, and it comes from the client: do not trust it. {@linkcode inputRequired} has an example.
 *
 * @throws {TypeError} If the schema checks asynchronously.
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
