// The frames that every client and server of the benches exchange, so that all carry the same bytes.

/** The `_meta` of each request. */
export const REQUEST_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** The `_meta` of each result. */
export const RESULT_META = { "io.modelcontextprotocol/serverInfo": { name: "bench", version: "1.0.0" } };

/** What comes of a call. */
export interface EchoResult {
  readonly content: unknown;
}

/** What a client of a bench can do. */
export interface BenchClient {
  /** Calls the tool `echo`, with no promise but what the client itself gives. */
  echo(args: { text?: string; size?: number }): Promise<EchoResult>;
  close(): Promise<void>;
}
