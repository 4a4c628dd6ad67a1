// What a test run has come to, from the report that all three runtimes can write.

/** One test. */
export interface TestResult {
  readonly title: string;
  readonly outcome: "passed" | "failed" | "skipped";
  /** What was reported of a failure, on one line. */
  readonly detail: string;
}

/** Reads a report in JUnit's form. Suites of a runtime that stand for a file are not tests. */
export function readJunit(xml: string): TestResult[] {
  return [...xml.matchAll(/<testcase\b([^>]*?)(\/>|>([\s\S]*?)<\/testcase>)/g)].map(
    ([, attributes, , body = ""]) => {
      const failure = /<(?:failure|error)\b([^>]*)>?/.exec(body)?.[1];
      const isSkipped = /<skipped\b/.test(body);
      return {
        title: attribute(attributes!, "name"),
        outcome: failure !== undefined ? "failed" : isSkipped ? "skipped" : "passed",
        detail: failure === undefined
          ? ""
          : unescape(attribute(failure, "message")).replaceAll(/\s+/g, " ").slice(0, 300),
      };
    },
  );
}

function attribute(attributes: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
  return unescape(value);
}

/** Node escapes a message twice. */
function unescape(text: string): string {
  return text.replaceAll(/&#x([0-9a-f]+);|&#(\d+);|&(lt|gt|quot|apos|amp);/gi, (_, hex, decimal, entity) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return ENTITIES[entity.toLowerCase()]!;
  });
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
