import { at, describeProblems } from "./schema_checker.ts";

/** An error as the validator gives it. */
export interface ValidatorError {
  readonly keyword: string;
  /** A JSON pointer into the value, behind a `#`. */
  readonly instanceLocation: string;
  readonly error: string;
}

/** Keywords whose errors only say that there are others further in. */
const WRAPPERS: ReadonlySet<string> = new Set([
  "$dynamicRef",
  "$recursiveRef",
  "$ref",
  "additionalItems",
  "additionalProperties",
  "allOf",
  "anyOf",
  "dependentSchemas",
  "if",
  "items",
  "patternProperties",
  "prefixItems",
  "properties",
  "unevaluatedItems",
  "unevaluatedProperties",
]);

/** What is wrong with a value, as lines that a model can go by: each says where, and what is wanted. */
export function describeErrors(errors: readonly ValidatorError[]): string[] {
  const leaves = errors.filter(({ keyword, error }) =>
    !WRAPPERS.has(keyword) && !isOpenOneOf(keyword, error)
  );
  // A property that breaks its own schema counts as not evaluated, too.
  const places = new Set(leaves.filter(({ keyword }) => keyword !== "false").map(placeOf));
  return describeProblems(
    leaves.filter((leaf) => leaf.keyword !== "false" || !places.has(placeOf(leaf)))
      .map((leaf) => at(placeOf(leaf), toText(leaf))),
  );
}

function isOpenOneOf(keyword: string, error: string): boolean {
  return keyword === "oneOf" && error.includes("(0 matches)");
}

function placeOf({ instanceLocation }: ValidatorError): string {
  const pointer = instanceLocation.replace(/^#\/?/, "");
  const names = pointer.split("/").map((name) =>
    decodeName(name).replaceAll("~1", "/").replaceAll("~0", "~")
  );
  return names.join(".");
}

function decodeName(name: string): string {
  try {
    return decodeURI(name);
  } catch {
    return name;
  }
}

function toText({ keyword, error }: ValidatorError): string {
  const text = error.replace(/\.$/, "");
  switch (keyword) {
    case "false":
      return "is not allowed here";
    case "required":
      return `${/"(.*)"$/s.exec(text)?.[0] ?? "a property"} is missing`;
    case "type": {
      const [, is, wanted] = /^Instance type "(\w+)" is invalid\. Expected (.*)$/.exec(text) ?? [];
      return is === undefined
        ? text
        : `must be ${wanted!.replaceAll('"', "").replaceAll(", ", " or ")}, not ${is}`;
    }
    case "enum":
      return `must be one of ${text.slice(text.indexOf("[") + 1, -1).replaceAll(",", ", ")}`;
    case "const":
      return `must be ${text.replace("Instance does not match ", "")}`;
    default:
      return text.replace(/^(?:Instance|String|Array) /, "");
  }
}
