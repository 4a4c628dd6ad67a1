import { isJSONObject } from "../../messages.ts";
import { at } from "./schema_checker.ts";

/** As many comparisons as an array may cost, in characters compared: the validator compares each item with each. */
const MOST_COMPARED = 20_000_000;

/**
 * Says which array in a value is too much to be compared item by item, for schemas that want its items to be unique; undefined if
 * none is. A client could hold up the server with one.
 */
export function whatIsTooMuch(value: unknown, place = ""): string | undefined {
  const inside = (name: string | number) => place === "" ? String(name) : `${place}.${name}`;
  if (Array.isArray(value)) {
    if (costOf(value) > MOST_COMPARED) {
      return at(place, `${value.length} items are too many to tell whether each is unique`);
    }
    return firstOf(value.entries(), (index, item) => whatIsTooMuch(item, inside(index)));
  }
  if (!isJSONObject(value)) return undefined;
  return firstOf(Object.entries(value), (name, member) => whatIsTooMuch(member, inside(name)));
}

function costOf(items: readonly unknown[]): number {
  const areObjects = items.some((item) => typeof item === "object" && item !== null);
  // Of plain values a comparison is quick.
  return areObjects ? items.length * JSON.stringify(items).length : items.length ** 2 / 5;
}

function firstOf<Key>(
  entries: Iterable<[Key, unknown]>,
  look: (key: Key, value: unknown) => string | undefined,
): string | undefined {
  for (const [key, value] of entries) {
    if (typeof value !== "object" || value === null) continue;
    const found = look(key, value);
    if (found !== undefined) return found;
  }
  return undefined;
}
