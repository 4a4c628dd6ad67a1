import { canonicalUri } from "../canonical_uri.ts";
import { invalidParams, serverBusy } from "./error_answers.ts";

/** The longest URI that a client may name, in bytes (rule V18). */
const MAX_URI_BYTES = 8_192;

/** As many URIs as a client may be subscribed to, and as many characters in all of them. */
const MAX_SUBSCRIBED = 10_000;
const MAX_SUBSCRIBED_LENGTH = 4_194_304;

/**
 * The URI that a client names.
 *
 * @throws {ProtocolError} -32602 if it is none, or too long.
 */
export function readUri(uri: unknown): string {
  if (typeof uri !== "string") throw invalidParams(`"uri" is not a string`);
  // A UTF-16 code unit takes at most three bytes.
  const isLong = uri.length * 3 > MAX_URI_BYTES && new TextEncoder().encode(uri).length > MAX_URI_BYTES;
  if (isLong) throw invalidParams(`"uri" is longer than ${MAX_URI_BYTES} bytes`);
  return uri;
}

/** What is left of the room for the URIs that a client is subscribed to, over all its listen streams and in the legacy era. */
export class UriBudget {
  #count = 0;
  #length = 0;

  /**
   * Takes room for URIs and gives them in the form in which they are compared.
   *
   * @throws {ProtocolError} -32602 if one is too long, -32603 `Server busy` if there is no room for all.
   */
  take(uris: readonly string[]): Set<string> {
    const taken = new Set(uris.map((uri) => canonicalUri(readUri(uri))));
    const length = lengthOf(taken);
    if (this.#count + taken.size > MAX_SUBSCRIBED || this.#length + length > MAX_SUBSCRIBED_LENGTH) {
      throw serverBusy();
    }
    this.#count += taken.size;
    this.#length += length;
    return taken;
  }

  /** Gives room back. */
  release(taken: ReadonlySet<string>): void {
    this.#count -= taken.size;
    this.#length -= lengthOf(taken);
  }
}

function lengthOf(uris: ReadonlySet<string>): number {
  let length = 0;
  for (const uri of uris) length += uri.length;
  return length;
}
