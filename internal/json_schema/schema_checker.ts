import { isJSONObject } from "../../messages.ts";
import type { JSONSchema, Schema, StandardIssue, StandardSchemaV1 } from "../../schema.ts";
import { messageOf } from "../thrown.ts";
import { plainSchema } from "./plain_schema.ts";
import { whatIsUnsound } from "./schema_soundness.ts";

/** What a check says: the value to go on with, or what is wrong. */
export type Checked = { readonly value: unknown; readonly problems?: undefined } | {
  readonly problems: readonly string[];
};

/** Checks a value against a schema. The answer is a promise only where it has to be. */
export type Checker = (value: unknown) => Checked | Promise<Checked>;

/** Whether a value can be a schema: an object, or a function that is a Standard Schema. */
export function isSchema(value: unknown): value is Schema {
  return isJSONObject(value) || isStandardSchema(value);
}

/** Whether a value is a Standard Schema rather than plain JSON Schema. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
}

/**
 * The JSON Schema of a schema, for listing.
 *
 * @throws {TypeError} If a Standard Schema cannot be turned into one.
 */
export function toJSONSchema(schema: Schema, side: "input" | "output", owner: string): JSONSchema {
  if (!isStandardSchema(schema)) return schema;
  const { jsonSchema, vendor } = schema["~standard"];
  if (jsonSchema === undefined) {
    const state = `its ${vendor} schema does not give a JSON Schema`;
    throw new TypeError(`Cannot list ${owner}: ${state}; ${whatToDo(vendor, `"${side}JsonSchema"`)}`);
  }
  try {
    return jsonSchema[side]({ target: "draft-2020-12" });
  } catch (error) {
    throw new TypeError(`Cannot list ${owner}: its ${side} schema is no JSON Schema`, { cause: error });
  }
}

/** How the schemas of a library that are no JSON Schema by themselves become one. */
function whatToDo(vendor: string, option: string): string {
  switch (vendor) {
    case "zod":
      return `say it in ${option}: z.toJSONSchema(schema) for zod/mini, zodToJsonSchema(schema) of ` +
        `"zod-to-json-schema" for zod 3; or use "zod" 4.2 or later, which gives it`;
    case "valibot":
      return `wrap it: toStandardJsonSchema(schema) of "@valibot/to-json-schema"; or say it in ${option}`;
    default:
      return `say it in ${option}`;
  }
}

/**
 * Makes the checker of a schema. For JSON Schema the validator is loaded at the first value that needs it.
 *
 * @throws {TypeError} If the dialect of a JSON Schema is not supported.
 */
export function createChecker(schema: Schema): Checker {
  return isStandardSchema(schema) ? createStandardChecker(schema) : createJSONSchemaChecker(schema);
}

/**
 * Checks that a schema can work.
 *
 * @throws {TypeError} If a JSON Schema never can.
 */
export function checkSchema(schema: Schema, side: "input" | "output", owner: string): void {
  const wrong = isStandardSchema(schema) ? undefined : whatIsUnsound(schema);
  if (wrong !== undefined) throw new TypeError(`Cannot use the ${side} schema of ${owner}: ${wrong}`);
}

function createStandardChecker(schema: StandardSchemaV1): Checker {
  return (value) => {
    try {
      const result = schema["~standard"].validate(value);
      return result instanceof Promise
        ? result.then(fromStandardResult, fromThrown)
        : fromStandardResult(result);
    } catch (error) {
      return fromThrown(error);
    }
  };
}

function fromStandardResult(result: Awaited<ReturnType<StandardSchemaV1["~standard"]["validate"]>>): Checked {
  if (result.issues === undefined) return { value: result.value };
  return { problems: describeProblems(result.issues.map((issue) => at(placeOf(issue), issue.message))) };
}

/** A transformation of the user's own has thrown: it does not like the value. */
function fromThrown(error: unknown): Checked {
  return { problems: describeProblems([messageOf(error)]) };
}

function placeOf({ path = [] }: StandardIssue): string {
  return path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
}

/** What only a value needs that is wrong, or that the quick check does not know. */
async function loadValidator() {
  const [{ Validator }, { describeErrors }, { whatIsTooMuch }] = await Promise.all([
    import("@cfworker/json-schema"),
    import("./schema_problems.ts"),
    import("./unique_items.ts"),
  ]);
  return { Validator, describeErrors, whatIsTooMuch };
}

/** The validator, once it is loaded: from then on checks are synchronous. */
let loaded: Awaited<ReturnType<typeof loadValidator>> | undefined;

function createJSONSchemaChecker(schema: JSONSchema): Checker {
  const dialect = dialectOf(schema);
  const wantsUnique = JSON.stringify(schema).includes('"uniqueItems":true');
  let check: ((value: unknown) => Checked) | undefined;
  const make = ({ Validator, describeErrors, whatIsTooMuch }: NonNullable<typeof loaded>) => {
    const validator = new Validator(schema, dialect, false);
    return (value: unknown): Checked => {
      const tooMuch = wantsUnique ? whatIsTooMuch(value) : undefined;
      if (tooMuch !== undefined) return { problems: describeProblems([tooMuch]) };
      const { valid, errors } = validator.validate(value);
      return valid ? { value } : { problems: describeErrors(errors) };
    };
  };
  const accepts = plainSchema(schema);
  return (value) => {
    if (accepts?.(value)) return { value };
    if (loaded !== undefined) return (check ??= make(loaded))(value);
    return loadValidator().then((modules) => {
      loaded = modules;
      return (check ??= make(modules))(value);
    });
  };
}

type Dialect = "4" | "7" | "2019-09" | "2020-12";

/**
 * The dialect that `$schema` names, 2020-12 without it.
 *
 * @throws {TypeError} If it is not supported.
 */
function dialectOf({ $schema }: JSONSchema): Dialect {
  if ($schema === undefined) return "2020-12";
  const dialect = /json-schema\.org\/draft(?:-0|\/)(4|7|2019-09|2020-12)\//.exec(String($schema))?.[1];
  if (dialect !== undefined) return dialect as Dialect;
  throw new TypeError(`Cannot check against the schema: its dialect "${$schema}" is not supported`);
}

/** More than these are only counted: a model mends the first ones first. */
const MOST_TOLD = 20;

/** A line is cut there. */
const LONGEST_LINE = 200;

/** What is wrong with a value, as lines without repetition, and not too many. */
export function describeProblems(problems: readonly string[]): string[] {
  const lines = [...new Set(problems.map(toLine))];
  const more = lines.length - MOST_TOLD;
  return more <= 0 ? lines : [...lines.slice(0, MOST_TOLD), `and ${more} more`];
}

/** One problem behind its place. */
export function at(place: string, problem: string): string {
  return place === "" ? problem : `${place}: ${problem}`;
}

function toLine(text: string): string {
  // deno-lint-ignore no-control-regex -- these are what must not reach a line
  const line = text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ");
  return line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE)}…`;
}
