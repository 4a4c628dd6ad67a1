/**
 * How tools, resources and prompts are defined for a one-file server: plain objects, with an input
 * schema that is JSON Schema or any Standard Schema (zod, valibot, arktype), from which argument types are inferred.
 *
 * @example A tool with types from its schema
 * ```ts
 * import { defineTool, type StandardSchemaV1 } from "@mcp/stdio/schema";
 * import assert from "node:assert/strict";
 *
 * // What `z.object({ city: z.string() })` is, in short.
 * const citySchema: StandardSchemaV1<{ city: string }> = {
 *   "~standard": { version: 1, vendor: "example", validate: (value) => ({ value: value as { city: string } }) },
 * };
 * const forecast = defineTool({
 *   description: "Forecast for a city",
 *   inputSchema: citySchema,
 *   inputJsonSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
 *   call: ({ city }) => `Sunny in ${city.toUpperCase()}.`,
 * });
 * assert.equal(forecast.description, "Forecast for a city");
 * ```
 *
 * @module
 */

import type {
  ClientCapabilities,
  Era,
  Icon,
  Implementation,
  LoggingLevel,
  MetaObject,
  Params,
  RequestId,
  Result,
} from "./messages.ts";
import type { Annotations, PromptOutput, ResourceOutput, ToolOutput } from "./outputs.ts";

export type {
  Annotations,
  CallToolResult,
  ContentBlock,
  ContentHint,
  GetPromptResult,
  GivenContents,
  InputRequest,
  InputRequiredResult,
  PlainOutput,
  PromptMessage,
  PromptOutput,
  ReadResourceResult,
  ResourceContents,
  ResourceOutput,
  StructuredResult,
  ToolErrorResult,
  ToolOutput,
} from "./outputs.ts";

/**
 * What a handler knows of its request, and how it speaks while it runs. The functions may be taken apart:
 * `(params, { progress, signal }) => …`. After a cancellation nothing is sent any more, whatever the handler does.
 *
 * @example A handler that reports progress and stops when it is told to
 * ```ts
 * import type { RequestContext } from "@mcp/stdio/schema";
 *
 * export async function indexFiles(files: string[], { progress, signal }: RequestContext): Promise<string> {
 *   for (const [index, file] of files.entries()) {
 *     signal.throwIfAborted();
 *     await fetch(`http://localhost:9200/index/${file}`, { signal }); // hand it on
 *     progress(index + 1, files.length, file);
 *   }
 *   return `${files.length} files indexed`;
 * }
 * ```
 */
export interface RequestContext {
  /** The id of the request. An integer beyond 2^53 stands here as the nearest number, but is answered as it came. */
  readonly id: RequestId;
  /** Its method. */
  readonly method: string;
  /** The era of the request: `modern` from revision 2026-07-28 on, `legacy` before. */
  readonly era: Era;
  /** The revision it is served by. */
  readonly protocolVersion: string;
  /** The name and version that the client gives itself, if it does. For display and logs. */
  readonly clientInfo: Implementation | undefined;
  /** What the client says it can do. */
  readonly clientCapabilities: ClientCapabilities;
  /** What the client answers to an `input_required` result, by the keys of its `inputRequests`. */
  readonly inputResponses: { readonly [key: string]: Result } | undefined;
  /** The `requestState` of that result. It has been in the client's hands: do not trust it. */
  readonly requestState: string | undefined;
  /** The `_meta` of the request. */
  readonly meta: MetaObject;
  /** Fires when the client cancels or the server ends; the reason is a `CancelledError`. */
  readonly signal: AbortSignal;
  /** Reports progress, if the client asked for it. Values must rise; others are dropped. */
  readonly progress: (progress: number, total?: number, message?: string) => void;
  /**
   * Sends a log message, if the client asked for its level. Resolves when there is room for more. A handler that does not
   * wait for that loses messages while the client does not read.
   */
  readonly log: (level: LoggingLevel, data: unknown, logger?: string) => Promise<void>;
  /** Sends a notification of an extension. Resolves as `log` does. */
  readonly notify: (method: string, params?: Params) => Promise<void>;
  /**
   * Asks the client by a request of the server's own, in the legacy era only. A handler for both eras returns an
   * {@linkcode InputRequiredResult}, which works with every client. It rejects after `timeoutMs`, ten minutes without it.
   */
  readonly requestInput: (
    method: string,
    params?: Params,
    options?: { timeoutMs?: number | undefined },
  ) => Promise<Result>;
}

/** Answers the requests of one method. What it throws goes to the log, a `ProtocolError` to the client. */
export type RequestHandler = (params: Params, context: RequestContext) => Result | Promise<Result>;

/** A JSON Schema; 2020-12 unless `$schema` says otherwise. */
export type JSONSchema = { [key: string]: unknown };

/** The part of the Standard Schema interface that is used: zod, valibot, arktype and others have it. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  /** The interface. */
  readonly "~standard": {
    /** Always 1. */
    readonly version: 1;
    /** The library's name. */
    readonly vendor: string;
    /** Checks a value and gives it back, possibly changed. */
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Types, never values. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** The Standard JSON Schema extension, where the library has it. */
    readonly jsonSchema?: {
      /** The JSON Schema of what goes in. */
      readonly input: (options: { target: "draft-2020-12" }) => JSONSchema;
      /** The JSON Schema of what comes out. */
      readonly output: (options: { target: "draft-2020-12" }) => JSONSchema;
    } | undefined;
  };
}

/** What a Standard Schema says about a value. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<StandardIssue> };

/** One thing that is wrong with a value. */
export interface StandardIssue {
  /** What is wrong. */
  readonly message: string;
  /** Where. */
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

/** Either kind of schema. */
export type Schema = JSONSchema | StandardSchemaV1;

/** What comes out of a schema: known for a Standard Schema, an object of unknown members for plain JSON Schema. */
export type SchemaOutput<S> = S extends
  { readonly "~standard": { readonly types?: { readonly output: infer Output } | undefined } } ? Output
  : { [key: string]: unknown };

/** What goes into a schema: known for a Standard Schema, any value but `undefined` for plain JSON Schema. */
export type SchemaInput<S> = S extends
  { readonly "~standard": { readonly types?: { readonly input: infer Input } | undefined } } ? Input
  : object | string | number | boolean | null;

/** Hints about what a tool does; a client does not trust them. */
export interface ToolAnnotations {
  /** A name for people. */
  title?: string | undefined;
  /** It changes nothing. */
  readOnlyHint?: boolean | undefined;
  /** It may destroy something. */
  destructiveHint?: boolean | undefined;
  /** Calling it twice does no more than calling it once. */
  idempotentHint?: boolean | undefined;
  /** It reaches out into the world. */
  openWorldHint?: boolean | undefined;
}

/**
 * A tool: what it is for, what it takes and gives, and what it does.
 *
 * @example
 * ```ts
 * import type { ToolDefinition } from "@mcp/stdio/schema";
 *
 * export const roll: ToolDefinition = {
 *   description: "Rolls dice and gives their sum",
 *   inputSchema: {
 *     type: "object",
 *     properties: { count: { type: "integer", minimum: 1, maximum: 100, description: "How many dice" } },
 *     required: ["count"],
 *   },
 *   annotations: { readOnlyHint: true, openWorldHint: false },
 *   call: () => "7",
 * };
 * ```
 */
export interface ToolDefinition<S = Schema, O = unknown> {
  /** A name for people. */
  title?: string | undefined;
  /** What it is for; a model chooses by it. */
  description?: string | undefined;
  /**
   * The arguments. Checked before the call; what is wrong goes back as a result with `isError`, so that the model can
   * correct them.
   *
   * @default {an object without rules}
   */
  inputSchema?: S | undefined;
  /** The JSON Schema to list, for a Standard Schema that cannot turn itself into one. */
  inputJsonSchema?: JSONSchema | undefined;
  /**
   * What `structuredContent` is like; what the tool returns must fit it. Checked after the call; a result that breaks it is an error
   * of the server.
   */
  outputSchema?: O | undefined;
  /** The JSON Schema to list for it, for a Standard Schema that cannot turn itself into one. */
  outputJsonSchema?: JSONSchema | undefined;
  /** Hints about what it does. */
  annotations?: ToolAnnotations | undefined;
  /** Pictures of it. */
  icons?: Icon[] | undefined;
  /** Metadata. */
  _meta?: MetaObject | undefined;
  /**
   * Does the work. What it throws goes back as a result with `isError` and the error's message; a `ProtocolError` goes
   * back as it is.
   */
  call(args: SchemaOutput<S>, context: RequestContext): ToolOutput<O> | Promise<ToolOutput<O>>;
}

/** Definitions of tools by name, each with the types of its own schemas: what goes in, and what comes out. */
export type ToolDefinitions<Inputs, Outputs> =
  & {
    [Name in keyof Inputs]: ToolDefinition<
      Inputs[Name],
      Name extends keyof Outputs ? Outputs[Name] : unknown
    >;
  }
  & { [Name in keyof Outputs]: OutputSchemaOf<Outputs[Name]> };

/** A definition of which only the output schema is looked at. */
export type OutputSchemaOf<O> = {
  [Member in keyof ToolDefinition]?: Member extends "outputSchema" ? O | undefined
    : unknown;
};

/** Completes the value of an argument: gives what it may become, best first. */
export type Completer = (
  value: string,
  context: { arguments: { [name: string]: string } },
) => readonly string[] | Promise<readonly string[]>;

/**
 * A resource, or with `{variables}` in its URI a template of resources.
 *
 * @example
 * ```ts
 * import type { ResourceDefinition } from "@mcp/stdio/schema";
 *
 * const NOTES: { [id: string]: string } = { "1": "Buy salmon" };
 * export const resources: { [uri: string]: ResourceDefinition } = {
 *   "note://{id}": {
 *     name: "note",
 *     mimeType: "text/plain",
 *     read: ({ variables: { id = "" } }) => NOTES[id] ?? "There is no such note",
 *   },
 * };
 * ```
 */
export interface ResourceDefinition {
  /**
   * Its name in lists.
   *
   * @default {its URI}
   */
  name?: string | undefined;
  /** A name for people. */
  title?: string | undefined;
  /** What it holds. */
  description?: string | undefined;
  /** Its media type. */
  mimeType?: string | undefined;
  /** Its size in bytes, if known. */
  size?: number | undefined;
  /** For whom and how important. */
  annotations?: Annotations | undefined;
  /** Pictures of it. */
  icons?: Icon[] | undefined;
  /** Metadata. */
  _meta?: MetaObject | undefined;
  /** Completes the variables of a template. */
  complete?: { [variable: string]: Completer } | undefined;
  /**
   * Reads it. For a template, `variables` holds what stood in the URI, decoded: a value may be any text, also `../..`, so
   * check it before you make a path of it.
   */
  read(
    request: { uri: string; variables: { [name: string]: string } },
    context: RequestContext,
  ): ResourceOutput | Promise<ResourceOutput>;
}

/** An argument of a prompt. */
export interface PromptArgumentDefinition {
  /** A name for people. */
  title?: string | undefined;
  /** What it is for. */
  description?: string | undefined;
  /** Whether it must be given. */
  required?: boolean | undefined;
  /** Completes it. */
  complete?: Completer | undefined;
}

/**
 * A prompt: a text that a user picks from a menu.
 *
 * @example
 * ```ts
 * import type { PromptDefinition } from "@mcp/stdio/schema";
 *
 * export const translate: PromptDefinition = {
 *   description: "Translates a text",
 *   arguments: { language: { required: true, complete: () => ["German", "Greek"] }, text: { required: true } },
 *   get: ({ language, text }) => `Translate into ${language}:\n\n${text}`,
 * };
 * ```
 */
export interface PromptDefinition {
  /** A name for people. */
  title?: string | undefined;
  /** What it is for. */
  description?: string | undefined;
  /** Its arguments by name. */
  arguments?: { [name: string]: PromptArgumentDefinition } | undefined;
  /** Pictures of it. */
  icons?: Icon[] | undefined;
  /** Metadata. */
  _meta?: MetaObject | undefined;
  /** Makes its messages. */
  get(args: { [name: string]: string }, context: RequestContext): PromptOutput | Promise<PromptOutput>;
}

/**
 * Gives a tool back as it is, with the types of its arguments and of its result inferred from its schemas.
 *
 * @example
 * ```ts
 * import { defineTool } from "@mcp/stdio/schema";
 * import assert from "node:assert/strict";
 *
 * const shout = defineTool({ description: "Gives a text back in capitals", call: ({ text }) => String(text).toUpperCase() });
 * assert.equal(typeof shout.call, "function");
 * ```
 */
export function defineTool<S, O>(definition: ToolDefinition<S, O>): ToolDefinition<S, O> {
  return definition;
}
