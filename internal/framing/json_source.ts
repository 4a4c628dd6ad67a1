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
  visitParts(text, wholeOf(text).start, (element) => void elements.push(element));
  return elements;
}

/** Goes through the members of an object, or the elements of an array, that begins at `start`, as long as `visit` does not give false. */
export function visitParts(
  text: string,
  start: number,
  visit: (value: Span, key: Span | undefined) => boolean | void,
): void {
  const isObject = text[start] === "{";
  let at = skipSpace(text, start + 1);
  while (text[at] !== "}" && text[at] !== "]") {
    const key = isObject ? { start: at, end: endOfString(text, at + 1) + 1 } : undefined;
    const valueStart = key === undefined ? at : skipSpace(text, skipSpace(text, key.end) + 1);
    const end = endOfValue(text, valueStart);
    if (visit({ start: valueStart, end }, key) === false) return;
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
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
  visitParts(text, start, (value, written) => {
    if (JSON.parse(text.slice(written!.start, written!.end)) === key) found = value;
  });
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
  for (let at = from;; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
  }
}

/** The value that is all of the text. */
export function wholeOf(text: string): Span {
  return { start: skipSpace(text, 0), end: text.length };
}
