/** What stands for itself in a URI: decoded, it would mean something else. */
const RESERVED_REGEXP = /[%:/?#[\]@!$&'()*+,;=]/g;

/**
 * A URI in the form in which two are compared (rule O4): `%C3%A9` and `é` are the same, `%20` and a space are; `%2F` and a slash
 * are not.
 */
export function canonicalUri(uri: string): string {
  if (!uri.includes("%")) return uri;
  return uri.replaceAll(/(?:%[\da-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes).replaceAll(RESERVED_REGEXP, encodeReserved);
    } catch {
      return escapes.toUpperCase(); // Not UTF-8: the bytes stay what they are.
    }
  });
}

function encodeReserved(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}
