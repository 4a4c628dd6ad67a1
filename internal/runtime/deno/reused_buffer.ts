/** A buffer that many reads are made into. */

const BUFFER_BYTES = 65_536;
/** From here on the buffer is given away with what was read into it, rather than that copied. */
const MOSTLY_FULL_BYTES = 49_152;

/** Lends one buffer to read after read, and keeps nothing of what they brought: a short chunk must not keep 64 KiB alive. */
export class ReusedBuffer {
  #buffer: Uint8Array<ArrayBuffer> | undefined;

  /** The buffer to read into; it is lent until `take`. */
  lend(): Uint8Array<ArrayBuffer> {
    return this.#buffer ?? new Uint8Array(BUFFER_BYTES);
  }

  /** Takes back what a read has filled, from its beginning, and gives the bytes for keeps. */
  take(filled: Uint8Array<ArrayBuffer>): Uint8Array {
    const isMostlyFull = filled.length >= MOSTLY_FULL_BYTES;
    this.#buffer = isMostlyFull ? undefined : new Uint8Array(filled.buffer);
    return isMostlyFull ? filled : filled.slice();
  }
}
