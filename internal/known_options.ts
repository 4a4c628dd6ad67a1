import { quoteText } from "./shown_text.ts";
import { findMeant } from "./similar_keys.ts";

/**
 * Looks for options that do not exist: one that is written for another fails, and others are told.
 *
 * @throws {TypeError} If an option is misspelt, or what another program calls it.
 */
export function checkKnownOptions(
  what: string,
  options: object,
  known: readonly string[],
  tell: (text: string) => void,
): void {
  // One that is undefined is not given.
  const given = Object.entries(options).filter(([, value]) => value !== undefined).map(([name]) => name);
  const unknown = given.filter((name) => !known.includes(name));
  for (const name of unknown) {
    const meant = findMeant(name, known);
    if (meant !== undefined && !Object.hasOwn(options, meant)) {
      throw new TypeError(
        `Cannot use ${what}: there is no option ${quoteText(name)}, did you mean "${meant}"?`,
      );
    }
  }
  if (unknown.length > 0) {
    tell(`${what} knows no option ${unknown.map((name) => quoteText(name)).join(", ")}`);
  }
}
