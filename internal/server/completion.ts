import { isJSONObject, type Params, type Result } from "../../messages.ts";
import type { Completer } from "../../schema.ts";
import { invalidParams, OutputError } from "./error_answers.ts";
import type { PromptSet } from "./prompts.ts";
import type { ResourceSet } from "./resources.ts";

/** As many completions as one result may hold (completion page). */
const MAX_COMPLETIONS = 100;

/** What has arguments that can be completed. */
interface Completable {
  readonly prompts: PromptSet;
  readonly resources: ResourceSet;
}

/** Answers `completion/complete`. */
export async function complete(params: Params, completable: Completable): Promise<Result> {
  const { ref, argument, context } = params;
  if (!isJSONObject(argument) || typeof argument.name !== "string" || typeof argument.value !== "string") {
    throw invalidParams(`"argument" has no "name" and "value"`);
  }
  const completer = completerOf(ref, argument.name, completable);
  const found: unknown = await completer?.(argument.value, { arguments: readKnownArguments(context) }) ?? [];
  if (!Array.isArray(found) || found.some((value) => typeof value !== "string")) {
    throw new OutputError(
      `the completer of argument "${argument.name.slice(0, 128)}" gave no array of texts`,
    );
  }
  const values = found.slice(0, MAX_COMPLETIONS);
  return { completion: { values, total: found.length, hasMore: found.length > values.length } };
}

function completerOf(
  ref: unknown,
  argument: string,
  { prompts, resources }: Completable,
): Completer | undefined {
  if (isJSONObject(ref) && ref.type === "ref/prompt" && typeof ref.name === "string") {
    return prompts.completerOf(ref.name, argument);
  }
  if (isJSONObject(ref) && ref.type === "ref/resource" && typeof ref.uri === "string") {
    return resources.completerOf(ref.uri, argument);
  }
  throw invalidParams(`"ref" names neither a prompt nor a resource`);
}

/** What is known of the other arguments already. */
function readKnownArguments(context: unknown): { [name: string]: string } {
  if (context === undefined) return {};
  const { arguments: known = {} } = isJSONObject(context) ? context : { arguments: undefined };
  if (
    !isJSONObject(context) || !isJSONObject(known) ||
    Object.values(known).some((value) => typeof value !== "string")
  ) {
    throw invalidParams(`"context.arguments" is not an object of strings`);
  }
  return known as { [name: string]: string };
}
