/** What handlers may give, and the content that it is made of. `schema.ts` gives it out. */

import type { Icon, MetaObject, Result } from "./messages.ts";
import type { InputMethods } from "./methods.ts";
import type { SchemaInput } from "./schema.ts";

/**
 * The result of a tool, a prompt or a resource that needs to know more first. The handler is called again, with
 * `inputResponses` and `requestState` in its context. A legacy client is asked by the server itself, at most ten times.
 * `inputRequired` of `@mcp/stdio/server` makes such a result.
 *
 * @example
 * ```ts
 * import type { ToolDefinition } from "@mcp/stdio/schema";
 * import { acceptedContent, inputRequired } from "@mcp/stdio/server";
 *
 * export const greet: ToolDefinition = {
 *   description: "Greets the user by name",
 *   call(_args, context) {
 *     const answer = acceptedContent(context, "user");
 *     if (answer !== undefined) return `Hello, ${answer.name}!`;
 *     if (context.inputResponses !== undefined) return "Hello, whoever you are!";
 *     const user = inputRequired.elicit({
 *       message: "What is your name?",
 *       requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
 *     });
 *     return inputRequired({ inputRequests: { user } });
 *   },
 * };
 * ```
 */
export interface InputRequiredResult extends Result {
  /** Tells it from an answer. */
  resultType: "input_required";
  /** What to ask the client for, by keys of your choice. It must have declared that it can answer. */
  inputRequests?: { [key: string]: InputRequest } | undefined;
  /** Comes back with the answers. */
  requestState?: string | undefined;
}

/** One thing to ask a client for, as its method has it. */
export type InputRequest =
  | { method: "elicitation/create"; params: InputMethods["elicitation/create"]["params"] }
  | { method: "sampling/createMessage"; params: InputMethods["sampling/createMessage"]["params"] }
  | { method: "roots/list"; params?: InputMethods["roots/list"]["params"] | undefined };

/** For whom content is meant and how important it is. */
export interface Annotations {
  /** Whom it is for. */
  audience?: Array<"user" | "assistant"> | undefined;
  /** How important it is: 1 is required, 0 is optional. */
  priority?: number | undefined;
  /** When it last changed, in ISO 8601. */
  lastModified?: string | undefined;
}

/** Text or bytes of a resource, as they stand in a result. */
export interface ResourceContents {
  /** Which resource. */
  uri: string;
  /** Its media type. */
  mimeType?: string | undefined;
  /** The text. */
  text?: string | undefined;
  /** The bytes in base64. */
  blob?: string | undefined;
  /** Metadata. */
  _meta?: MetaObject | undefined;
}

/** One piece of the content of a tool result or of a prompt. */
export type ContentBlock =
  | { type: "text"; text: string; annotations?: Annotations | undefined; _meta?: MetaObject | undefined }
  | {
    type: "image" | "audio";
    data: string;
    mimeType: string;
    annotations?: Annotations | undefined;
    _meta?: MetaObject | undefined;
  }
  | {
    type: "resource";
    resource: ResourceContents;
    annotations?: Annotations | undefined;
    _meta?: MetaObject | undefined;
  }
  | {
    type: "resource_link";
    uri: string;
    name: string;
    title?: string | undefined;
    description?: string | undefined;
    mimeType?: string | undefined;
    size?: number | undefined;
    annotations?: Annotations | undefined;
    icons?: Icon[] | undefined;
    _meta?: MetaObject | undefined;
  };

/** The result of a tool. */
export interface CallToolResult extends Result {
  /** What the model reads. */
  content: ContentBlock[];
  /** What a program reads. */
  structuredContent?: unknown;
  /** Whether the call failed. */
  isError?: boolean | undefined;
}

/** A result of a tool with a value for programs; its text form is made of it, unless it has a `content` of its own. */
export interface StructuredResult<Value> extends Result {
  /** What a program reads. */
  structuredContent: Value;
  /** What the model reads. */
  content?: ContentBlock[] | undefined;
  /** The call has not failed. */
  isError?: false | undefined;
}

/** A result that says what went wrong, for the model to read. */
export interface ToolErrorResult extends Result {
  /** What went wrong. */
  content: ContentBlock[];
  /** The call has failed. */
  isError: true;
}

/**
 * What a tool may return. With an `outputSchema`: a value that fits it, bare or as `structuredContent`. Without one: text, a content
 * block or several, nothing, or a whole result. In either case also a result that asks for input, or one with `isError`.
 */
export type ToolOutput<O = unknown> =
  | ([O] extends [never] ? PlainOutput
    : unknown extends O ? PlainOutput
    : SchemaInput<O> | StructuredResult<SchemaInput<O>>)
  | ToolErrorResult
  | InputRequiredResult
  | ContentHint
  | [ContentHint, ...ContentHint[]];

/** What a tool without an `outputSchema` may return. */
export type PlainOutput =
  | string
  | ContentBlock
  | ContentBlock[]
  | CallToolResult
  | StructuredResult<unknown>
  | void;

/** For the compiler alone; no value has this type. It makes `type: "text"` in a result the word `"text"`, not any string. */
export interface ContentHint {
  /** A type of content. */
  type: ContentBlock["type"];
  /** Keeps any value from having this type. */
  readonly "~never": never;
}

/** Text or bytes of a resource as reading it may give them: without a `uri` it is the one that was asked for. */
export type GivenContents =
  & Pick<ResourceContents, "mimeType" | "_meta">
  & { uri?: string | undefined }
  & ({ text: string; blob?: undefined } | { blob: string; text?: undefined });

/** The result of reading a resource. */
export interface ReadResourceResult extends Result {
  /** What was read. */
  contents: GivenContents[];
}

/** What reading a resource may give: text, bytes, contents, a whole result, or one that asks for input. */
export type ResourceOutput =
  | string
  | Uint8Array
  | GivenContents
  | GivenContents[]
  | ReadResourceResult
  | InputRequiredResult;

/** A message of a prompt. */
export interface PromptMessage {
  /** Who says it. */
  role: "user" | "assistant";
  /** What is said. */
  content: ContentBlock;
}

/** The result of getting a prompt. */
export interface GetPromptResult extends Result {
  /** What the prompt is for. */
  description?: string | undefined;
  /** The messages, in their order. */
  messages: PromptMessage[];
}

/** What getting a prompt may give: the text of one user message, a message or several, a whole result, or one that asks for input. */
export type PromptOutput = string | PromptMessage | PromptMessage[] | GetPromptResult | InputRequiredResult;
