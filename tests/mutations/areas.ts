// All rows, by area.
import type { Mutation } from "./mutation.ts";
import { ROWS as cli } from "./rows/cli.ts";
import { ROWS as client } from "./rows/client.ts";
import { ROWS as connection } from "./rows/connection.ts";
import { ROWS as docs } from "./rows/docs.ts";
import { ROWS as doctor } from "./rows/doctor.ts";
import { ROWS as framing } from "./rows/framing.ts";
import { ROWS as host_config } from "./rows/host_config.ts";
import { ROWS as process } from "./rows/process.ts";
import { ROWS as runtime } from "./rows/runtime.ts";
import { ROWS as schemas } from "./rows/schemas.ts";
import { ROWS as sdk } from "./rows/sdk.ts";
import { ROWS as server } from "./rows/server.ts";

export const AREAS: ReadonlyMap<string, readonly Mutation[]> = new Map(Object.entries({
  framing,
  connection,
  runtime,
  server,
  client,
  process,
  sdk,
  host_config,
  schemas,
  cli: [...cli, ...doctor],
  docs,
}));

/** How often the text to be replaced stands in a source: a row is good if it is once. */
export function occurrences(source: string, find: string): number {
  return find === "" ? 0 : source.split(find).length - 1;
}
