// What a test run has come to, from the report that all three runtimes can write.

/** One test. */
export interface TestResult {
  readonly title: string;
  readonly outcome: "passed" | "failed" | "skipped";
  /** What was reported of a failure, or the reason of what was skipped, on one line; not every runtime tells that. */
  readonly detail: string;
}

/** Reads a report in JUnit's form. Suites of a runtime that stand for a file are not tests. */
export function readJunit(xml: string): TestResult[] {
  const cases = xml.matchAll(/<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g);
  return [...cases].map(([, attributes = "", body = ""]) => {
    const failure = /<(?:failure|error)\b([^>]*)>?/.exec(body)?.[1];
    const skip = /<skipped\b([^>]*)>/.exec(body)?.[1];
    return {
      title: attribute(attributes, "name"),
      outcome: failure !== undefined ? "failed" : skip !== undefined ? "skipped" : "passed",
      // Node escapes a message twice.
      detail: unescape(attribute(failure ?? skip ?? "", "message")).replaceAll(/\s+/g, " ").slice(0, 300),
    };
  });
}

function attribute(attributes: string, name: string): string {
  return unescape(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
}

function unescape(text: string): string {
  return text.replaceAll(/&#x([0-9a-f]+);|&#(\d+);|&(lt|gt|quot|apos|amp);/gi, (_, hex, decimal, entity) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return ENTITIES[entity.toLowerCase()]!;
  });
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
