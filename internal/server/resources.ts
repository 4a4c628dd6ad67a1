import { ProtocolError } from "../../errors.ts";
import { type Era, ErrorCode, isJSONObject, type Params, type Result } from "../../messages.ts";
import type { Completer, ResourceContents, ResourceDefinition } from "../../schema.ts";
import { canonicalUri } from "../canonical_uri.ts";
import type { ActiveRequest } from "./active_request.ts";
import { toBase64 } from "./results.ts";
import { pageOf } from "./pages.ts";
import type { Handler } from "./settings.ts";
import { UriTemplate } from "./uri_template.ts";
import { checkDefinition, DefinitionSet } from "./definition_checks.ts";
import { invalidParams, OutputError } from "./error_answers.ts";
import { readUri } from "./uri_budget.ts";

/** The code of "resource not found" in the legacy era; revision 2026-07-28 forbids it. */
const LEGACY_NOT_FOUND = -32002;

/** What a definition may have. */
const MEMBERS: { readonly [Member in keyof ResourceDefinition]-?: true } = {
  name: true,
  title: true,
  description: true,
  mimeType: true,
  size: true,
  annotations: true,
  icons: true,
  _meta: true,
  complete: true,
  read: true,
};

interface Named {
  readonly uri: string;
  readonly definition: ResourceDefinition;
}

interface Found extends Named {
  readonly variables: { [name: string]: string };
}

interface Template {
  readonly definition: ResourceDefinition;
  readonly template: UriTemplate;
}

/** The resources of a server and the templates of resources, in the order of their definition. */
export class ResourceSet extends DefinitionSet {
  /** By URI in canonical form. */
  readonly #resources = new Map<string, Named>();
  readonly #templates = new Map<string, Template>();

  /** How many there are, templates included. */
  get size(): number {
    return this.#resources.size + this.#templates.size;
  }

  /** Whether a template completes its variables. */
  get completes(): boolean {
    return [...this.#templates.values()].some(({ definition }) => definition.complete !== undefined);
  }

  /**
   * Adds a resource, or a template if its URI holds variables.
   *
   * @throws {TypeError} If the definition cannot be used.
   */
  add(uri: string, definition: ResourceDefinition): void {
    checkDefinition(`resource "${uri}"`, definition, "read", Object.keys(MEMBERS), this.tell);
    if (uri === "") throw new TypeError("Cannot define a resource: its URI is empty");
    if (uri.includes("{")) this.#templates.set(uri, { definition, template: new UriTemplate(uri) });
    else this.#resources.set(canonicalUri(uri), { uri, definition });
  }

  /** Removes a resource or a template. Returns false if there was none of that URI. */
  remove(uri: string): boolean {
    return this.#resources.delete(canonicalUri(uri)) || this.#templates.delete(uri);
  }

  /** What answers the resources' methods. */
  handlers(): Array<[string, Handler]> {
    return [
      ["resources/list", (params) => this.#list(params)],
      ["resources/templates/list", (params) => this.#listTemplates(params)],
      ["resources/read", (params, context) => this.#read(params, context)],
    ];
  }

  /** What completes a variable of a template, or undefined if nothing does. */
  completerOf(uriTemplate: string, variable: string): Completer | undefined {
    const entry = this.#templates.get(uriTemplate);
    if (entry === undefined && !this.#resources.has(canonicalUri(uriTemplate))) {
      throw invalidParams(`"ref" names no resource of this server`);
    }
    const { complete = {} } = entry?.definition ?? {};
    return Object.hasOwn(complete, variable) ? complete[variable] : undefined;
  }

  #list(params: Params): Result {
    const toEntry = ({ uri, definition }: Named) => ({
      uri,
      ...toListing(uri, definition),
      size: definition.size,
    });
    return pageOf("resources", this.#resources, toEntry, params, this.pageSize);
  }

  #listTemplates(params: Params): Result {
    const toEntry = ({ definition }: Template, uri: string) => ({
      uriTemplate: uri,
      ...toListing(uri, definition),
    });
    return pageOf("resourceTemplates", this.#templates, toEntry, params, this.pageSize);
  }

  async #read(params: Params, context: ActiveRequest): Promise<Result> {
    const uri = readUri(params.uri);
    const found = this.#find(canonicalUri(uri));
    if (found === undefined) throw notFound(uri, context.era);
    const { definition, variables } = found;
    const output = await definition.read({ uri, variables }, context);
    return toResult(found.uri, uri, definition.mimeType, output);
  }

  #find(canonical: string): Found | undefined {
    const known = this.#resources.get(canonical);
    if (known !== undefined) return { ...known, variables: {} };
    for (const [uri, { definition, template }] of this.#templates) {
      const variables = template.match(canonical);
      if (variables !== undefined) return { uri, definition, variables };
    }
    return undefined;
  }
}

function toListing(uri: string, definition: ResourceDefinition): Params {
  const { name = uri, title, description, mimeType, annotations, icons, _meta } = definition;
  return { name, title, description, mimeType, annotations, icons, _meta };
}

/** What a resource gave, as a result (rule O1); `defined` is its URI or template, for errors. */
function toResult(defined: string, uri: string, mimeType: string | undefined, output: unknown): Result {
  if (typeof output === "string") return { contents: [{ uri, mimeType, text: output }] };
  if (output instanceof Uint8Array) return { contents: [{ uri, mimeType, blob: toBase64(output) }] };
  if (isJSONObject(output) && output.resultType === "input_required") return output;
  const isWhole = isJSONObject(output) && output.contents !== undefined;
  const contents = isWhole ? output.contents : Array.isArray(output) ? output : [output];
  if (!Array.isArray(contents) || !contents.every(isContents)) {
    const state = "neither text, bytes, contents with text or a blob, nor a result with contents";
    throw new OutputError(`reading resource "${defined}" gave ${state}`);
  }
  const whole = contents.map((each) => ({
    ...each,
    uri: each.uri ?? uri,
    mimeType: each.mimeType ?? mimeType,
  }));
  return isWhole ? { ...output, contents: whole } : { contents: whole };
}

function isContents(value: unknown): value is Partial<ResourceContents> {
  if (!isJSONObject(value)) return false;
  const { uri, mimeType, text, blob } = value;
  return isTextOrAbsent(uri) && isTextOrAbsent(mimeType) && isTextOrAbsent(text) && isTextOrAbsent(blob) &&
    (text !== undefined || blob !== undefined);
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function notFound(uri: string, era: Era): ProtocolError {
  const code = era === "modern" ? ErrorCode.invalidParams : LEGACY_NOT_FOUND;
  return new ProtocolError(code, "Resource not found", { uri });
}
