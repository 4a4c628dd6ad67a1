import type { ByteStreams } from "../../runtime.ts";
import { createDeferred, type Deferred } from "../promises.ts";

/** A pipe in memory, and its end as somebody other than the writer may bring it about. */
export interface MemoryPipe extends ByteStreams {
  /** Ends it: what was written can still be read, and a writer gets EPIPE. */
  end(): void;
}

/** Makes a pipe that holds so many bytes. `onWriterEnd` is called when its writer closes or aborts it. */
export function createMemoryPipe(capacityBytes: number, onWriterEnd?: () => void): MemoryPipe {
  let reader!: ReadableStreamDefaultController<Uint8Array>;
  let room: Deferred<void> | undefined;
  let ended = false;
  const release = () => {
    room?.resolve();
    room = undefined;
  };
  const end = () => {
    if (ended) return;
    ended = true;
    reader.close();
    release();
  };
  const readable = new ReadableStream<Uint8Array>(
    {
      start: (controller) => void (reader = controller),
      pull: release,
      cancel: () => {
        ended = true;
        release();
      },
    },
    { highWaterMark: capacityBytes, size: (chunk) => chunk.length },
  );
  const writable = new WritableStream<Uint8Array>({
    async write(chunk) {
      if (ended) throw brokenPipe();
      reader.enqueue(chunk);
      if (reader.desiredSize! > 0) return;
      room = createDeferred();
      await room.promise;
      if (ended) throw brokenPipe();
    },
    close() {
      end();
      onWriterEnd?.();
    },
    abort() {
      end();
      onWriterEnd?.();
    },
  });
  return { readable, writable, end };
}

function brokenPipe(): Error {
  return Object.assign(new Error("EPIPE: broken pipe, write"), { code: "EPIPE" });
}
