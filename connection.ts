/**
 * Messages in, messages out, closed: where the protocol ends and streams and processes begin. Servers and clients know a
 * {@linkcode Connection} and never a stream, a process or a runtime.
 *
 * @example Two ends in memory
 * ```ts
 * import type { Connection } from "@mcp/stdio/connection";
 * import { createConnectionPair } from "@mcp/stdio/testing";
 * import assert from "node:assert/strict";
 *
 * const [left, right]: [Connection, Connection] = createConnectionPair();
 * left.send({ jsonrpc: "2.0", method: "notifications/initialized" });
 * const batch = await right.receive();
 * assert.equal(batch?.[0]?.kind, "message");
 * await left.close();
 * assert.equal(await right.receive(), undefined);
 * ```
 *
 * @module
 */

import type { JSONRPCMessage, RequestId } from "./messages.ts";

/** Why a line is no message. */
export type FaultReason =
  | "too_long"
  | "invalid_utf8"
  | "invalid_json"
  | "invalid_message"
  | "truncated";

/** A line that is no message, told as a value: the lines around it are unharmed. */
export interface Fault {
  /** Tells a fault from a message or a line. */
  readonly kind: "fault";
  /** Why the line is no message. */
  readonly reason: FaultReason;
  /** What was wrong and where, in a few words that hold nothing of the line's content. */
  readonly detail: string;
  /** The top-level `id` of the line, when one could be found. */
  readonly id?: RequestId | undefined;
  /** The digits of `id` as they came, for an integer beyond 2^53. */
  readonly idText?: string | undefined;
  /** Whether the line has a top-level `id`, whatever its value: without one it was meant as a notification. */
  readonly hasId: boolean;
  /** Whether the line has a top-level `method`: it was meant as a request or a notification. */
  readonly hasMethod: boolean;
  /** Whether the line has a top-level `result` or `error`: it was meant as a response. */
  readonly hasResult: boolean;
  /** Length of the line in bytes, without its line feed. */
  readonly byteLength: number;
  /** The first part of the line as text, at most 1 KiB. */
  readonly preview: string;
  /**
   * The members, when the line was a JSON array of at most 1 000: legacy revision 2025-03-26 allows these batches. Each is
   * told as if it stood on a line of its own; length and preview are those of the line.
   */
  readonly batch?: readonly Inbound[] | undefined;
}

/** A line that is a message. */
export interface ReceivedMessage {
  /** Tells a message from a fault. */
  readonly kind: "message";
  /** The message. */
  readonly message: JSONRPCMessage;
  /** The digits of the message's id as they came, for an integer beyond 2^53 that `message.id` cannot hold. */
  readonly idText?: string | undefined;
  /** The digits of `params._meta.progressToken` as they came, for an integer beyond 2^53. */
  readonly progressTokenText?: string | undefined;
}

/** What a connection receives: messages, and faults for lines that are none. */
export type Inbound = ReceivedMessage | Fault;

/** One message on its way out. */
export interface Outgoing {
  /** Whether the message has begun to leave: from then on it cannot be withdrawn. */
  readonly begun: boolean;
  /**
   * Resolves when the operating system, or the reader in memory, has accepted the message. Rejects with a
   * `ConnectionClosedError` if the connection ended first or the message was withdrawn.
   */
  readonly accepted: Promise<void>;
  /** Takes the message back. Returns false if it has begun to leave. */
  withdraw(): boolean;
}

/** Why a connection is no longer open. */
export type ConnectionEnd =
  | { readonly kind: "local" }
  | { readonly kind: "output_failed"; readonly error: unknown };

/** Messages in, messages out, closed. Made from streams, from a process, or in memory. */
export interface Connection {
  /**
   * Waits for input. Resolves with what came, in the order it came in and never empty, or with `undefined` once the
   * input has ended. Only one call may wait at a time.
   */
  receive(): Promise<readonly Inbound[] | undefined>;
  /** The error that ended the input, if one did. */
  readonly inputError: unknown;
  /**
   * Queues a message, or a legacy batch of them; messages leave in call order.
   *
   * @throws {FrameError} If the message cannot be written: too long, no JSON value, or no message of JSON-RPC. Nothing
   * that a value does when it is looked at comes through as another error.
   * @throws {ConnectionClosedError} If the connection has ended.
   */
  send(message: JSONRPCMessage | readonly JSONRPCMessage[]): Outgoing;
  /** How much is queued and has not begun to leave, about, in bytes. */
  readonly queuedBytes: number;
  /** True when more is queued than the connection wants to hold. Senders that can wait should wait for `drained()`. */
  readonly full: boolean;
  /** Resolves when the connection is no longer full, or has ended. */
  drained(): Promise<void>;
  /** Resolves when all that was queued has been accepted, or the connection has ended. */
  flushed(): Promise<void>;
  /** Ends the input: a waiting `receive()` resolves with `undefined`. */
  cancelInput(reason?: unknown): void;
  /** Flushes what is queued, then ends the connection. Safe to call more than once. */
  close(): Promise<void>;
  /** Ends the connection now; what is queued is lost. */
  abort(reason?: unknown): void;
  /** Resolves when nothing can be sent any more. */
  readonly closed: Promise<ConnectionEnd>;
}
