/** The value of a JSON text; undefined for what is no JSON, which is nothing unusual in what people and servers write. */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined; // That is the question.
  }
}
