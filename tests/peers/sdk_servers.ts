/** The servers on the official SDK that the tests drive. */

/** The program; it is told which SDK, and how it is connected. */
export const SERVER_PROGRAM = "tests/peers/fixtures/sdk_transport_server";

export type Sdk = "v1" | "v2";
export type How = "connect" | "serve";

export const SERVER_KINDS: ReadonlyArray<readonly [Sdk, How]> = [
  ["v1", "connect"],
  ["v2", "connect"],
  ["v1", "serve"],
  ["v2", "serve"],
];

export function describeServer(sdk: Sdk, how: How): string {
  return `A server on SDK ${sdk} ${how === "connect" ? "over our transport" : "under serve()"}`;
}
