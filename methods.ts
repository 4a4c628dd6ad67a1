/**
 * Params and results of the methods that the specification defines, by method: what a client's `request` knows by type.
 *
 * @example
 * ```ts
 * import type { CoreMethods } from "@mcp/stdio/methods";
 * import assert from "node:assert/strict";
 *
 * const result: CoreMethods["tools/list"]["result"] = { tools: [] };
 * assert.deepEqual(result.tools, []);
 * ```
 *
 * @module
 */

import type { DiscoverResult, Icon, LoggingLevel, MetaObject, Params, Result } from "./messages.ts";
import type {
  Annotations,
  CallToolResult,
  ContentBlock,
  PromptMessage,
  ResourceContents,
  ToolAnnotations,
} from "./schema.ts";

/** Params that may carry metadata. */
export interface WithMeta {
  /** Metadata of the request. */
  _meta?: MetaObject | undefined;
  /** What the method defines. */
  [key: string]: unknown;
}

/** Params of a list. */
export interface ListParams extends WithMeta {
  /** Where the page begins: `nextCursor` of the page before. */
  cursor?: string | undefined;
}

/** Part of every page of a list. */
export interface ListResult extends Result {
  /** Where the next page begins; absent on the last one. */
  nextCursor?: string | undefined;
}

/** A tool as it is listed. */
export interface Tool {
  /** Its name. */
  name: string;
  /** A name for people. */
  title?: string | undefined;
  /** What it is for. */
  description?: string | undefined;
  /** The JSON Schema of its arguments. */
  inputSchema: { [key: string]: unknown };
  /** The JSON Schema of its structured result. */
  outputSchema?: { [key: string]: unknown } | undefined;
  /** Hints about what it does; not to be trusted. */
  annotations?: ToolAnnotations | undefined;
  /** Pictures of it. */
  icons?: Icon[] | undefined;
  /** Metadata. */
  _meta?: MetaObject | undefined;
}

/** A resource or a template of resources as it is listed. */
export interface ResourceListing {
  /** Its name. */
  name: string;
  /** A name for people. */
  title?: string | undefined;
  /** What it holds. */
  description?: string | undefined;
  /** Its media type. */
  mimeType?: string | undefined;
  /** For whom and how important. */
  annotations?: Annotations | undefined;
  /** Pictures of it. */
  icons?: Icon[] | undefined;
  /** Metadata. */
  _meta?: MetaObject | undefined;
}

/** A resource as it is listed. */
export interface Resource extends ResourceListing {
  /** Its URI. */
  uri: string;
  /** Its size in bytes. */
  size?: number | undefined;
}

/** A template of resources as it is listed. */
export interface ResourceTemplate extends ResourceListing {
  /** Its URI with variables. */
  uriTemplate: string;
}

/** A prompt as it is listed. */
export interface Prompt {
  /** Its name. */
  name: string;
  /** A name for people. */
  title?: string | undefined;
  /** What it is for. */
  description?: string | undefined;
  /** Its arguments. */
  arguments?: Array<{ name: string; title?: string; description?: string; required?: boolean }> | undefined;
  /** Pictures of it. */
  icons?: Icon[] | undefined;
  /** Metadata. */
  _meta?: MetaObject | undefined;
}

/** What is to be completed. */
export interface CompleteParams extends WithMeta {
  /** The prompt or the template. */
  ref: { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string };
  /** The argument, as far as it was entered. */
  argument: { name: string; value: string };
  /** The values of the arguments that were filled in before. */
  context?: { arguments?: { [name: string]: string } } | undefined;
}

/** Params and results by method. */
export interface CoreMethods {
  /** What the server is and speaks. */
  "server/discover": { params: WithMeta; result: DiscoverResult };
  /** Whether the server answers; legacy era. */
  "ping": { params: WithMeta; result: Result };
  /** The tools. */
  "tools/list": { params: ListParams; result: ListResult & { tools: Tool[] } };
  /** Calls a tool. */
  "tools/call": {
    params: WithMeta & { name: string; arguments?: Params | undefined };
    result: CallToolResult;
  };
  /** The resources. */
  "resources/list": { params: ListParams; result: ListResult & { resources: Resource[] } };
  /** The templates of resources. */
  "resources/templates/list": {
    params: ListParams;
    result: ListResult & { resourceTemplates: ResourceTemplate[] };
  };
  /** Reads a resource. */
  "resources/read": { params: WithMeta & { uri: string }; result: Result & { contents: ResourceContents[] } };
  /** The prompts. */
  "prompts/list": { params: ListParams; result: ListResult & { prompts: Prompt[] } };
  /** Makes the messages of a prompt. */
  "prompts/get": {
    params: WithMeta & { name: string; arguments?: { [name: string]: string } | undefined };
    result: Result & { description?: string; messages: PromptMessage[] };
  };
  /** Completes an argument. */
  "completion/complete": {
    params: CompleteParams;
    result: Result & { completion: { values: string[]; total?: number; hasMore?: boolean } };
  };
  /** Which log messages are sent; legacy era. */
  "logging/setLevel": { params: WithMeta & { level: LoggingLevel }; result: Result };
}

/** One field of a form: a text, a number, a yes or no, or a choice. */
export type FormField =
  & {
    /** Its name for people. */
    title?: string | undefined;
    /** What it is for. */
    description?: string | undefined;
  }
  & (
    | {
      type: "string";
      format?: "email" | "uri" | "date" | "date-time" | undefined;
      minLength?: number | undefined;
      maxLength?: number | undefined;
      default?: string | undefined;
    }
    | { type: "string"; enum: string[]; enumNames?: string[] | undefined; default?: string | undefined }
    | { type: "string"; oneOf: Array<{ const: string; title: string }>; default?: string | undefined }
    | {
      type: "array";
      items: { type: "string"; enum: string[] } | { anyOf: Array<{ const: string; title: string }> };
      minItems?: number | undefined;
      maxItems?: number | undefined;
      default?: string[] | undefined;
    }
    | {
      type: "number" | "integer";
      minimum?: number | undefined;
      maximum?: number | undefined;
      default?: number | undefined;
    }
    | { type: "boolean"; default?: boolean | undefined }
  );

/** The fields of a form: a JSON Schema of one level. */
export interface FormSchema {
  /** A form is an object. */
  type: "object";
  /** The fields by name. */
  properties: { [name: string]: FormField };
  /** The names of those that must be filled in. */
  required?: string[] | undefined;
  /** The dialect; 2020-12 without it. */
  $schema?: string | undefined;
}

/** What a user is asked: to fill in a form, or to visit a page. */
export type ElicitParams =
  & WithMeta
  & (
    | { mode?: "form" | undefined; message: string; requestedSchema: FormSchema }
    | { mode: "url"; message: string; url: string; elicitationId?: string | undefined }
  );

/** What a user has answered. */
export interface ElicitResult extends Result {
  /** `accept`: the user agreed; `decline`: the user said no; `cancel`: the question was closed without an answer. */
  action: "accept" | "decline" | "cancel";
  /** The form as it was filled in. */
  content?: { [name: string]: string | number | boolean | string[] } | undefined;
}

/** A message of a conversation with a model. */
export interface SamplingMessage {
  /** Who says it. */
  role: "user" | "assistant";
  /** What is said: one piece, or several. */
  content: SamplingContent | SamplingContent[];
  /** Metadata. */
  _meta?: MetaObject | undefined;
}

/** A piece of what is said to a model or by one, also its use of a tool. */
export type SamplingContent =
  | Extract<ContentBlock, { type: "text" | "image" | "audio" }>
  | { type: "tool_use"; id: string; name: string; input: Params; _meta?: MetaObject | undefined }
  | {
    type: "tool_result";
    toolUseId: string;
    content: ContentBlock[];
    structuredContent?: unknown;
    isError?: boolean | undefined;
    _meta?: MetaObject | undefined;
  };

/** What a client's model is asked. */
export interface SamplingParams extends WithMeta {
  /** The conversation so far. */
  messages: SamplingMessage[];
  /** How many tokens the answer may have. */
  maxTokens: number;
  /** What the model should be told first. */
  systemPrompt?: string | undefined;
  /** Which model would be good; the client chooses. */
  modelPreferences?: {
    hints?: Array<{ name?: string | undefined }> | undefined;
    costPriority?: number | undefined;
    speedPriority?: number | undefined;
    intelligencePriority?: number | undefined;
  } | undefined;
  /** How much chance there is in the answer; 0 for the least. */
  temperature?: number | undefined;
  /** Texts at which the answer ends. */
  stopSequences?: string[] | undefined;
  /** Tools that the model may use. */
  tools?: Tool[] | undefined;
  /** Whether it must use one. */
  toolChoice?: { mode?: "auto" | "none" | "required" | undefined } | undefined;
  /** More for the provider of the model. */
  metadata?: Params | undefined;
}

/** What the model has answered. */
export interface SamplingResult extends Result {
  /** Who says it. */
  role: "user" | "assistant";
  /** What it says. */
  content: SamplingContent | SamplingContent[];
  /** Which model. */
  model: string;
  /** Why it stopped: `endTurn`, `maxTokens`, `stopSequence`, `toolUse`, or another word. */
  stopReason?: string | undefined;
}

/** Where a user lets servers work. */
export interface RootsResult extends Result {
  /** Folders, as `file:` URLs. */
  roots: Array<{ uri: string; name?: string | undefined; _meta?: MetaObject | undefined }>;
}

/** What a server may ask of a client, by method. */
export interface InputMethods {
  /** Asks the user. */
  "elicitation/create": { params: ElicitParams; result: ElicitResult };
  /** Asks the user's model. */
  "sampling/createMessage": { params: SamplingParams; result: SamplingResult };
  /** Asks where it may work. */
  "roots/list": { params: WithMeta; result: RootsResult };
}
