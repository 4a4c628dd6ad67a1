/** Findings that an SDK causes, known by the shape of what came and never by a server's name for itself. */

import type { Outcome } from "./examination.ts";

interface Signature {
  readonly id: string;
  /** What the line that came has in it. */
  readonly got: RegExp;
  readonly cause: string;
}

const TS_1 =
  "@modelcontextprotocol/sdk 1.x; mended by moving to @modelcontextprotocol/server 2.x or @mcp/stdio";

const SIGNATURES: readonly Signature[] = [
  { id: "TOOL-01", got: /"text":"MCP error -32602: Tool [^"]* not found"/, cause: TS_1 },
  { id: "TOOL-02", got: /"code":-32603,"message":"\[\\n {2}\{\\n/, cause: TS_1 },
  { id: "TOOL-01", got: /"text":"Unknown tool: /, cause: "the Python SDK (mcp)" },
  { id: "LOG-01", got: /"code":-32603,"message":"\[\\n {2}\{\\n/, cause: TS_1 },
];

/** What has caused a finding, if that is known. */
export function causeOf({ check, finding }: Outcome): string | undefined {
  if (finding.verdict === "pass" || finding.verdict === "skip") return undefined;
  const got = finding.evidence.map((each) => each.got ?? "").join("\n");
  return SIGNATURES.find((signature) => signature.id === check.id && signature.got.test(got))?.cause;
}
