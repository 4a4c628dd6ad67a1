import { CancelledError, ProtocolError } from "../../errors.ts";
import {
  type Era,
  ErrorCode,
  isJSONObject,
  type JSONObject,
  type Params,
  type Result,
} from "../../messages.ts";
import type { JSONSchema, Schema, ToolDefinition } from "../../schema.ts";
import type { ActiveRequest } from "./active_request.ts";
import { pageOf } from "./pages.ts";
import { isThenable } from "../promises.ts";
import {
  type Checked,
  type Checker,
  checkSchema,
  createChecker,
  isSchema,
  isStandardSchema,
  toJSONSchema,
} from "../json_schema/schema_checker.ts";
import { isA, messageOf } from "../thrown.ts";
import type { Handler } from "./settings.ts";
import { checkDefinition, DefinitionSet } from "./definition_checks.ts";
import { isContent, isContentBlock } from "./results.ts";
import { invalidParams, OutputError } from "./error_answers.ts";

/** A tool with its schemas made ready. */
interface Tool {
  readonly definition: ToolDefinition<unknown>;
  readonly listing: Params;
  readonly legacyListing: Params;
  readonly checkInput: Checker;
  readonly checkOutput: Checker | undefined;
}

/** What a definition may have. */
const MEMBERS: { readonly [Member in keyof ToolDefinition]-?: true } = {
  title: true,
  description: true,
  inputSchema: true,
  inputJsonSchema: true,
  outputSchema: true,
  outputJsonSchema: true,
  annotations: true,
  icons: true,
  _meta: true,
  call: true,
};

const ANY_OBJECT: JSONSchema = { type: "object" };

/** The tools of a server, in the order of their definition (rules O1 to O3). */
export class ToolSet extends DefinitionSet {
  readonly #tools = new Map<string, Tool>();

  /** How many there are. */
  get size(): number {
    return this.#tools.size;
  }

  /**
   * Adds a tool, or replaces the one of that name.
   *
   * @throws {TypeError} If the definition cannot be used.
   */
  add(name: string, definition: ToolDefinition<unknown>): void {
    const owner = `tool "${name}"`;
    if (name === "") throw new TypeError("Cannot define a tool: its name is empty");
    checkDefinition(owner, definition, "call", Object.keys(MEMBERS), this.tell);
    const { inputSchema, inputJsonSchema, outputSchema, outputJsonSchema } = definition as ToolDefinition<
      Schema,
      Schema
    >;
    for (const given of [inputSchema, inputJsonSchema, outputSchema, outputJsonSchema]) {
      if (given === undefined || isSchema(given)) continue;
      throw new TypeError(`Cannot define ${owner}: a schema must be an object`);
    }
    const schema = inputSchema ?? inputJsonSchema;
    const inputListing = inputJsonSchema ?? toJSONSchema(schema ?? ANY_OBJECT, "input", owner);
    if (inputListing.type !== "object") {
      const hint = Object.values(inputListing).some(isStandardSchema)
        ? "; wrap its members, as z.object does"
        : "";
      throw new TypeError(`Cannot define ${owner}: its input schema must have the type "object"${hint}`);
    }
    const output = outputSchema ?? outputJsonSchema;
    const outputListing = output && (outputJsonSchema ?? toJSONSchema(output, "output", owner));
    if (schema !== undefined) checkSchema(schema, "input", owner);
    if (output !== undefined) checkSchema(output, "output", owner);
    const listing = toListing(name, definition, inputListing, outputListing);
    this.#tools.set(name, {
      definition,
      listing,
      // Older revisions know only objects as structured content.
      legacyListing: outputListing?.type === "object" ? listing : { ...listing, outputSchema: undefined },
      // Arguments are an object anyway.
      checkInput: schema === undefined ? (value) => ({ value }) : createChecker(schema),
      checkOutput: output && createChecker(output),
    });
  }

  /** Removes a tool. Returns false if there was none of that name. */
  remove(name: string): boolean {
    return this.#tools.delete(name);
  }

  /** What answers the tools' methods. */
  handlers(): Array<[string, Handler]> {
    return [
      ["tools/list", (params, { era }) => this.#list(params, era)],
      ["tools/call", (params, context) => this.#call(params, context)],
    ];
  }

  #list(params: Params, era: Era): Result {
    const listing = era === "modern" ? "listing" : "legacyListing";
    return pageOf("tools", this.#tools, (tool) => tool[listing], params, this.pageSize);
  }

  #call(params: Params, context: ActiveRequest): Result | Promise<Result> {
    const { name, arguments: args = {} } = params;
    if (typeof name !== "string") throw invalidParams(`"name" is not a string`);
    if (!isJSONObject(args)) throw invalidParams(`"arguments" is not an object`);
    const tool = this.#tools.get(name);
    if (tool === undefined) {
      throw new ProtocolError(ErrorCode.invalidParams, `Unknown tool: ${name.slice(0, 128)}`);
    }
    const checked = tool.checkInput(args);
    return checked instanceof Promise
      ? checked.then((known) => this.#callChecked(name, tool, known, context))
      : this.#callChecked(name, tool, checked, context);
  }

  /** Stays without promises as long as schema and tool do: most calls are short. */
  #callChecked(name: string, tool: Tool, checked: Checked, context: ActiveRequest): Result | Promise<Result> {
    if (checked.problems !== undefined) {
      const [first, ...more] = checked.problems;
      return errorResult(`Invalid arguments: ${[first, ...more].join("\n")}`);
    }
    let output: unknown;
    try {
      output = tool.definition.call(checked.value as Params, context);
    } catch (error) {
      return toErrorResult(error);
    }
    if (isThenable(output)) {
      return Promise.resolve(output).then((value) => finishCall(name, tool, value), toErrorResult);
    }
    return finishCall(name, tool, output);
  }
}

function finishCall(name: string, { checkOutput }: Tool, output: unknown): Result | Promise<Result> {
  const result = toResult(name, output, checkOutput !== undefined);
  const { structuredContent, isError, resultType = "complete" } = result;
  if (checkOutput === undefined || isError === true || resultType !== "complete") {
    return withText(name, result);
  }
  if (structuredContent === undefined) {
    throw new OutputError(`tool "${name}" gave nothing, but has an outputSchema`);
  }
  const checked = checkOutput(structuredContent);
  return checked instanceof Promise
    ? checked.then((known) => checkedResult(name, result, known))
    : checkedResult(name, result, checked);
}

/** The result with its structured content as the schema gives it back, which is what the listing describes. */
function checkedResult(name: string, result: Result, checked: Checked): Result {
  if (checked.problems === undefined) return withText(name, { ...result, structuredContent: checked.value });
  throw new OutputError(
    `tool "${name}" gave what does not fit its outputSchema`,
    checked.problems.join("; "),
  );
}

/** What a tool returned, as a result (rule O1). */
function toResult(name: string, output: unknown, isStructured: boolean): Result {
  if (output === undefined && !isStructured) return { content: [] };
  if (isJSONObject(output) && isWholeResult(output, isStructured)) return checkContent(name, output);
  if (isStructured) return { structuredContent: output };
  if (typeof output === "string") return { content: [{ type: "text", text: output }] };
  if (isContentBlock(output)) return { content: [output] };
  if (Array.isArray(output) && output.every(isContentBlock)) return { content: output };
  throw new OutputError(
    `tool "${name}" gave neither text, content blocks, nor a result with "content"; a value needs an outputSchema`,
  );
}

function checkContent(name: string, result: Result): Result {
  const { content } = result;
  if (content === undefined || (Array.isArray(content) && content.every(isContent))) return result;
  throw new OutputError(`tool "${name}" gave a result whose "content" is no array of content blocks`);
}

/** With an output schema an object may be the structured value itself, and have members of these names. */
function isWholeResult(output: JSONObject, isStructured: boolean): boolean {
  const { content, structuredContent, resultType, isError } = output;
  if (structuredContent !== undefined || typeof resultType === "string" || isError === true) return true;
  return !isStructured && Array.isArray(content);
}

/** A result with only structured content gets it as text too, for clients that read nothing else. */
function withText(name: string, result: Result): Result {
  const { content, structuredContent, resultType = "complete" } = result;
  if (content !== undefined || resultType !== "complete") return result;
  if (structuredContent === undefined) return { content: [], ...result };
  return { content: [{ type: "text", text: writtenAs(name, structuredContent) }], ...result };
}

function writtenAs(name: string, value: unknown): string {
  let reason = "it has no value as JSON";
  try {
    const text = JSON.stringify(value);
    if (text !== undefined) return text;
  } catch (error) {
    reason = messageOf(error);
  }
  throw new OutputError(`tool "${name}" gave what cannot be written as JSON`, reason);
}

function toErrorResult(error: unknown): Result {
  // What a handler throws because its signal has fired is no failure of the tool.
  if (isA(error, ProtocolError) || isA(error, CancelledError)) throw error;
  return errorResult(messageOf(error));
}

function errorResult(text: string): Result {
  return { content: [{ type: "text", text }], isError: true };
}

function toListing(
  name: string,
  definition: ToolDefinition<unknown>,
  inputSchema: JSONSchema,
  outputSchema: JSONSchema | undefined,
): Params {
  const { title, description, annotations, icons, _meta } = definition;
  // Members that are undefined do not reach the wire.
  return { name, title, description, inputSchema, outputSchema, annotations, icons, _meta };
}
