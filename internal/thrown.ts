/** Longer texts of errors are cut: they stand in logs and in the messages of other errors. */
const MAX_TEXT_LENGTH = 512;

/**
 * The message of whatever was thrown, on one line. Some values have none, and some throw when they are asked: a getter, a
 * `toString`, a proxy.
 */
export function textOfThrown(thrown: unknown): string {
  try {
    const text = String(thrown instanceof Error ? thrown.message : thrown);
    const line = text.slice(0, MAX_TEXT_LENGTH).replaceAll(/[\r\n]+/g, " ");
    return text.length > MAX_TEXT_LENGTH ? `${line}…` : line;
  } catch {
    return "a value without a text was thrown";
  }
}
