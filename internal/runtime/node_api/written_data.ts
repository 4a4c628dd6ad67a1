/** What a Node stream or a sink is given to write, as bytes. */

interface BufferModule {
  readonly Buffer: { from(text: string, encoding: string): Uint8Array };
}

/** The bytes of a string or of any view of bytes. */
export function writtenBytes(data: unknown): Uint8Array {
  if (typeof data === "string") return new TextEncoder().encode(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer || data instanceof SharedArrayBuffer) return new Uint8Array(data);
  throw new TypeError(`Cannot write to stdout: ${typeof data} is neither text nor bytes`);
}

/** Does what `write` of a Node stream does with its arguments: data, perhaps an encoding, perhaps a callback. */
export function writeLikeStream(args: readonly unknown[], write: (bytes: Uint8Array) => void): true {
  const [data, encoding] = args;
  write(
    typeof data === "string" && typeof encoding === "string" ? encoded(data, encoding) : writtenBytes(data),
  );
  const callback = args.at(-1);
  if (typeof callback === "function") queueMicrotask(() => callback(null));
  return true;
}

function encoded(text: string, encoding: string): Uint8Array {
  if (/^utf-?8$/i.test(encoding)) return writtenBytes(text);
  const { Buffer } = globalThis as unknown as BufferModule;
  return Buffer.from(text, encoding);
}
