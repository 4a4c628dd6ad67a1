import { NegotiationError, ProtocolError } from "../../errors.ts";
import {
  type Era,
  ErrorCode,
  type Implementation,
  isJSONObject,
  type JSONRPCErrorObject,
  LATEST_PROTOCOL_VERSION,
  LEGACY_PROTOCOL_VERSIONS,
  MetaKey,
  MODERN_PROTOCOL_VERSIONS,
  type Params,
  type Result,
  type ServerCapabilities,
} from "../../messages.ts";
import type { Clock } from "../../runtime.ts";
import { settlesWithin } from "../clock.ts";
import { cutText, quoteText, spellUnseen } from "../shown_text.ts";
import {
  isModernRefusal,
  isRefusalOfProbed,
  judgeProbe,
  type ProbeOutcome,
  type ProbeVerdict,
  supportedVersionsOf,
} from "../era.ts";

/** What a server turned out to be. */
export interface Peer {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly serverInfo: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
}

/** One link, as far as the negotiation needs it. Requests made here are never cancelled on the wire. */
export interface Exchange {
  /**
   * Makes a request and gives what becomes of it, but never silence.
   *
   * @throws {FrameError} As a rejection, if it cannot be written.
   */
  ask(method: string, params: Params): Promise<ProbeOutcome>;
  /** Sends a notification. */
  tell(method: string): void;
  /** Resolves with the first byte of the server. */
  readonly firstSign: Promise<void>;
}

/** What a negotiation goes by. */
export interface NegotiationSettings {
  readonly era: "auto" | Era;
  readonly probeTimeoutMs: number;
  /** The `_meta` of a modern request but for its revision. */
  readonly meta: Params;
  /** The params of `initialize` but for its revision. */
  readonly handshake: Params;
  readonly clock: Clock;
  /** The server's command behind a space, for messages; empty if it has none. It is made for who needs it. */
  readonly shown: () => string;
}

/** Thrown when the server ended before it answered: `phase` tells what was being asked. */
export class EndedEarly extends Error {
  readonly phase: "probe" | "handshake";
  /** Whether a probe had been made: a legacy server may have ended because of it, at once or later. */
  readonly probed: boolean;

  constructor(phase: "probe" | "handshake", probed: boolean) {
    super("the server ended before it answered");
    this.phase = phase;
    this.probed = probed;
  }
}

/** Thrown when the server may refuse `initialize` only because it was probed before: started anew it may take one. */
export class SpoiltByProbe extends Error {
  readonly refusal: NegotiationError;

  constructor(refusal: NegotiationError) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

type Verdict = ProbeVerdict | { readonly kind: "peer"; readonly peer: Peer };

/**
 * Finds out what a server speaks (rules E1 to E5).
 *
 * @throws {NegotiationError} If there is no revision that both speak.
 * @throws {EndedEarly} If the server ended before it answered.
 * @throws {SpoiltByProbe} If it would not be greeted after a probe.
 */
export async function negotiate(exchange: Exchange, settings: NegotiationSettings): Promise<Peer> {
  const peer = await findPeer(exchange, settings);
  if (peer.era === "legacy") exchange.tell("notifications/initialized");
  return peer;
}

async function findPeer(exchange: Exchange, settings: NegotiationSettings): Promise<Peer> {
  if (settings.era === "legacy") {
    return handshakePeer(await greet(exchange, settings), settings.shown, undefined);
  }
  const probe = new Probe(exchange, settings);
  const verdict = await probe.run(LATEST_PROTOCOL_VERSION, settings.era === "auto");
  const mayFallBack = verdict.kind === "legacy" && settings.era === "auto";
  return peerOf(mayFallBack ? await fallBack(probe, exchange, settings) : verdict, probe, settings.shown);
}

/** The probe: asked again with other revisions as long as the server names some that are left. */
class Probe {
  readonly #exchange: Exchange;
  readonly #settings: NegotiationSettings;
  readonly tried: string[] = [];
  lastError: unknown;
  /** How `initialize` was refused, when that led back to the probe. */
  handshakeError: unknown;
  /** The verdict on an answer that did not come in time. */
  late: Promise<ProbeVerdict> | undefined;

  constructor(exchange: Exchange, settings: NegotiationSettings) {
    this.#exchange = exchange;
    this.#settings = settings;
  }

  async run(version: string, mayBeSilent: boolean): Promise<ProbeVerdict> {
    for (let next = version;;) {
      const answer = this.#ask(next);
      const outcome = mayBeSilent ? await this.#withinTime(answer) : await answer;
      if (outcome.kind === "silence") {
        this.late = answer.then((late) => this.#judgeLate(late));
        this.late.catch(() => {}); // If the greeting is settled by then, nobody asks.
      }
      const verdict = this.#judge(outcome);
      if (verdict.kind !== "retry") return verdict;
      next = verdict.version;
    }
  }

  #ask(version: string): Promise<ProbeOutcome> {
    this.tried.push(version);
    const _meta = { [MetaKey.protocolVersion]: version, ...this.#settings.meta };
    return this.#exchange.ask("server/discover", { _meta });
  }

  #judge(outcome: ProbeOutcome): ProbeVerdict {
    if (outcome.kind === "error") {
      this.lastError = toProtocolError(outcome.error);
    } else if ("reason" in outcome) {
      this.lastError = new Error(`The answer to server/discover cannot be read: ${outcome.reason}`);
    } else if (outcome.kind === "silence") {
      this.lastError = new Error(`No answer to server/discover within ${this.#settings.probeTimeoutMs} ms`);
    }
    return judgeProbe(outcome, this.tried);
  }

  async #judgeLate(outcome: ProbeOutcome): Promise<ProbeVerdict> {
    const verdict = this.#judge(outcome);
    return verdict.kind === "retry" ? await this.run(verdict.version, false) : verdict;
  }

  /** A slow start is not silence: the time begins anew with the first byte (rule E3). */
  async #withinTime(answer: Promise<ProbeOutcome>): Promise<ProbeOutcome> {
    const { clock, probeTimeoutMs } = this.#settings;
    const heard = Promise.race([answer, this.#exchange.firstSign]);
    const isThere = await settlesWithin(clock, heard, probeTimeoutMs) &&
      await settlesWithin(clock, answer, probeTimeoutMs);
    return isThere ? await answer : { kind: "silence" };
  }
}

/** Goes on with `initialize`, while an answer to the probe may still come and wins (rule E3). */
async function fallBack(probe: Probe, exchange: Exchange, settings: NegotiationSettings): Promise<Verdict> {
  const greeted = greet(exchange, settings).then(async (outcome): Promise<Verdict> => {
    if (outcome.kind !== "error" || !isModernRefusal(outcome.error)) {
      return { kind: "peer", peer: handshakePeer(outcome, settings.shown, probe.lastError, true) };
    }
    probe.handshakeError = toProtocolError(outcome.error);
    const named = supportedVersionsOf(outcome.error);
    const version = MODERN_PROTOCOL_VERSIONS.find((version) => named.includes(version));
    return await probe.run(version ?? LATEST_PROTOCOL_VERSION, false);
  });
  if (probe.late === undefined) return await greeted;
  greeted.catch(() => {}); // If the probe wins, nobody asks what became of the greeting.
  const late = probe.late.then((verdict): Verdict | Promise<Verdict> =>
    verdict.kind === "modern" || verdict.kind === "incompatible" ? verdict : greeted
  );
  return await Promise.race([late, greeted]);
}

async function greet(exchange: Exchange, settings: NegotiationSettings): Promise<ProbeOutcome> {
  return await exchange.ask("initialize", {
    protocolVersion: LEGACY_PROTOCOL_VERSIONS[0],
    ...settings.handshake,
  });
}

function peerOf(verdict: Verdict, probe: Probe, shown: () => string): Peer {
  const { tried, lastError: probeError, handshakeError } = probe;
  const facts = { phase: "probe", requested: tried, probeError, handshakeError } as const;
  switch (verdict.kind) {
    case "peer":
      return verdict.peer;
    case "modern":
      return modernPeer(verdict.version, verdict.discovered ?? {});
    case "relaunch":
      throw new EndedEarly("probe", true);
    case "incompatible": {
      const { supported } = verdict;
      const speaks = supported.length === 0 ? "none that it names" : listVersions(supported);
      throw new NegotiationError(
        "unsupported_version",
        `Cannot agree on a revision: the server${shown()} speaks ${speaks}, this client ${tried.join(", ")}`,
        { ...facts, supported },
      );
    }
    default:
      throw new NegotiationError(
        "negotiation_failed",
        `Cannot use the server${shown()}: it does not speak a revision of the modern era`,
        facts,
      );
  }
}

function modernPeer(protocolVersion: string, discovered: Result): Peer {
  const { capabilities, instructions, _meta } = discovered;
  return {
    era: "modern",
    protocolVersion,
    serverInfo: toImplementation(_meta?.[MetaKey.serverInfo]),
    capabilities: isJSONObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}

function handshakePeer(
  outcome: ProbeOutcome,
  shown: () => string,
  probeError: unknown,
  probed = false,
): Peer {
  if (outcome.kind === "ended") throw new EndedEarly("handshake", probed);
  if (outcome.kind !== "result") {
    const refusal = handshakeFailed(outcome, shown, probeError);
    const isSpoilt = probed && outcome.kind === "error" && isRefusalOfProbed(outcome.error);
    throw isSpoilt ? new SpoiltByProbe(refusal) : refusal;
  }
  const { protocolVersion, capabilities, serverInfo, instructions } = outcome.result;
  if (typeof protocolVersion !== "string" || !LEGACY_PROTOCOL_VERSIONS.includes(protocolVersion)) {
    const named = typeof protocolVersion === "string"
      ? protocolVersion
      : String(JSON.stringify(protocolVersion));
    throw new NegotiationError(
      "unsupported_version",
      `Cannot agree on a revision: the server${shown()} answered initialize with ${quoteText(named, 60)}`,
      {
        phase: "handshake",
        supported: [named],
        requested: LEGACY_PROTOCOL_VERSIONS,
        probeError,
      },
    );
  }
  return {
    era: "legacy",
    protocolVersion,
    serverInfo: toImplementation(serverInfo),
    capabilities: isJSONObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}

function handshakeFailed(outcome: ProbeOutcome, shown: () => string, probeError: unknown): NegotiationError {
  const handshakeError = outcome.kind === "error"
    ? toProtocolError(outcome.error)
    : new Error("reason" in outcome ? outcome.reason : "no answer");
  const supported = outcome.kind === "error" ? supportedVersionsOf(outcome.error) : [];
  const isVersion = outcome.kind === "error" && outcome.error.code === ErrorCode.unsupportedProtocolVersion;
  return new NegotiationError(
    isVersion ? "unsupported_version" : "negotiation_failed",
    `Cannot use the server${shown()}: initialize failed: ${
      cutText(handshakeError.message, 500, spellUnseen).text
    }`,
    { phase: "handshake", supported, requested: LEGACY_PROTOCOL_VERSIONS, probeError, handshakeError },
  );
}

/** The first revisions of a list, as far as they are fit to be shown. */
function listVersions(versions: readonly string[]): string {
  return versions.slice(0, 8).map((version) => cutText(version, 40, spellUnseen).text).join(", ");
}

function toImplementation(value: unknown): Implementation | undefined {
  return isJSONObject(value) ? value as unknown as Implementation : undefined;
}

function toProtocolError({ code, message, data }: JSONRPCErrorObject): ProtocolError {
  return new ProtocolError(code, message, data);
}
