/** Where a value stands in a text: from `start` up to, and without, `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A value of any kind in JSON text that has been parsed without an error, or undefined if nothing stands at the path. */
export function spanAt(
  text: string,
  path: readonly string[],
  within: Span = wholeOf(text),
): Span | undefined {
  let span: Span | undefined = within;
  for (const key of path) {
    if (span === undefined) return undefined;
    span = memberOf(text, span, key);
  }
  return span;
}

/** The text of the value at the path. */
export function sourceAt(text: string, path: readonly string[], within?: Span): string | undefined {
  const span = spanAt(text, path, within);
  return span === undefined ? undefined : text.slice(span.start, span.end);
}

/** The elements of the array that is all of the text. */
export function elementsOf(text: string): Span[] {
  const elements: Span[] = [];
  let at = skipSpace(text, wholeOf(text).start + 1);
  while (text[at] !== "]") {
    const end = endOfValue(text, at);
    elements.push({ start: at, end });
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return elements;
}

/** Where the quote stands that ends the string whose first character is at `from`, or the text ends. */
export function endOfString(text: string, from: number): number {
  let quote = text.indexOf('"', from);
  while (quote !== -1) {
    let escapes = quote;
    while (escapes > from && text.charCodeAt(escapes - 1) === 0x5c) escapes--;
    if ((quote - escapes) % 2 === 0) return quote;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}

/** The value of the last member with this key, as `JSON.parse()` takes it, if the span is an object. */
function memberOf(text: string, { start }: Span, key: string): Span | undefined {
  if (text[start] !== "{") return undefined;
  let found: Span | undefined;
  let at = skipSpace(text, start + 1);
  while (text[at] !== "}") {
    const endOfKey = endOfString(text, at + 1) + 1;
    const isMeant = JSON.parse(text.slice(at, endOfKey)) === key;
    const valueStart = skipSpace(text, skipSpace(text, endOfKey) + 1);
    const end = endOfValue(text, valueStart);
    if (isMeant) found = { start: valueStart, end };
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return found;
}

function endOfValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  do {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at + 1);
    else if (code === 0x5b || code === 0x7b) depth++;
    else if (code === 0x5d || code === 0x7d) depth--;
    else if (depth === 0) return endOfBareValue(text, at);
    at++;
  } while (depth > 0);
  return at;
}

/** A number, `true`, `false` or `null`. */
function endOfBareValue(text: string, start: number): number {
  let at = start;
  while (at < text.length && !",]} \t\r\n".includes(text[at]!)) at++;
  return at;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (" \t\r\n".includes(text.charAt(at)) && at < text.length) at++;
  return at;
}

function wholeOf(text: string): Span {
  return { start: skipSpace(text, 0), end: text.length };
}
