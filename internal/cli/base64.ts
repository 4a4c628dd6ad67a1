/** The bytes of base64; undefined for what is none: a server may send anything, and somebody may have edited a recording. */
export function decodeBase64(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined; // That is the question.
  }
}
