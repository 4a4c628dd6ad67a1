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
  /** What other arguments are. */
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
