import {
  FrameError,
  InvalidResponseError,
  NegotiationError,
  ProcessError,
  ProtocolError,
} from "../../errors.ts";
import { MetaKey, type Params } from "../../messages.ts";
import { settlesWithin } from "../clock.ts";
import { createDeferred, type Deferred } from "../promises.ts";
import type { ProbeOutcome } from "../era.ts";
import { Call, type CallSettings } from "./call.ts";
import type { CallTable } from "./call_table.ts";
import { describeExit, describeStderr } from "./exit_words.ts";
import type { Link } from "./link.ts";
import { EndedEarly, type Exchange, negotiate, type Peer, SpoiltByProbe } from "./negotiate.ts";
import type { Sender } from "./sender.ts";
import type { ClientSettings } from "./settings.ts";

/** Requests of the greeting are never cancelled, and the greeting as a whole has its own time. */
const GREETING_SETTINGS: CallSettings = {
  timeoutMs: Infinity,
  maxTimeoutMs: Infinity,
  resetTimeoutOnProgress: false,
  retry: "never",
  inlineNotifications: false,
  isGreeting: true,
};

/** What the greeter needs of the client. */
export interface GreeterPort {
  /** Whether a link has come to its end: what is asked then would never be answered, although it may still be taken. */
  hasEnded(link: Link): boolean;
  /** Starts the server again because it ended at the probe, and reads from it. */
  relaunch(ended: Link): Promise<Link>;
  /** What the server has printed to stdout, in words, if that explains a silence. */
  hint(): string | undefined;
}

/** One greeting: what was asked, and whom. */
interface Greeting {
  /** The server; another one once it was started again. */
  link: Link;
  readonly asked: Set<Call>;
  /** Rejects when it is clear that nothing will come of it. */
  readonly hopeless: Deferred<never>;
  isOver: boolean;
}

/** Greets servers: finds out what each speaks, within its time, and remembers it for the next one (rules E1 to E5). */
export class Greeter {
  readonly #table: CallTable;
  readonly #settings: ClientSettings;
  readonly #sender: Sender;
  readonly #port: GreeterPort;
  #known: Peer | undefined;
  /** The server that was taken for what another one had been, unasked. */
  #trusted: Link | undefined;
  #isHandshaking = false;
  #current: Greeting | undefined;

  constructor(table: CallTable, settings: ClientSettings, sender: Sender, port: GreeterPort) {
    this.#table = table;
    this.#settings = settings;
    this.#sender = sender;
    this.#port = port;
  }

  /** Whether `initialize` is under way: a legacy server may ask something before it answers. */
  get isHandshaking(): boolean {
    return this.#isHandshaking;
  }

  /** Whether a server was not asked what it speaks. */
  trusts(link: Link): boolean {
    return this.#trusted === link;
  }

  /** What is known of the server does not hold: it is asked anew next time (rule E4). */
  forget(): void {
    this.#known = undefined;
    this.#trusted = undefined;
  }

  /** Greets a server. Rejects if it cannot be used, or if it takes longer than `connectTimeoutMs`. */
  async greet(link: Link): Promise<Peer> {
    const { connectTimeoutMs, clock } = this.#settings;
    // A modern server needs no greeting once it is known: every request speaks for itself.
    if (this.#known?.era === "modern") {
      this.#trusted = link;
      return this.#known;
    }
    const greeting: Greeting = { link, asked: new Set(), hopeless: createDeferred(), isOver: false };
    this.#current = greeting;
    const greeted = Promise.race([this.#greetOnce(greeting), greeting.hopeless.promise]);
    greeted.catch(() => {}); // When the time is up, nobody asks what became of it.
    try {
      if (!(await settlesWithin(clock, greeted, connectTimeoutMs))) throw this.#timeoutError(greeting);
      this.#known = await greeted;
      return this.#known;
    } catch (error) {
      this.forget();
      throw error;
    } finally {
      greeting.isOver = true;
      this.#current = undefined;
      this.#isHandshaking = false;
      // An answer that is still to come, such as a late one to the probe, means nothing any more.
      for (const call of greeting.asked) this.#table.forget(call);
    }
  }

  /** The server frames its messages in a way of its own: it has not understood a word, and will not. */
  giveUp(): void {
    const greeting = this.#current;
    if (greeting === undefined) return;
    const state = "it frames its messages with Content-Length headers, as language servers do";
    const { stderrTail } = greeting.link;
    const message = `Cannot use the server${this.#shown}: ${state}${describeStderr(stderrTail)}`;
    const phase = phaseOf(greeting);
    greeting.hopeless.reject(new NegotiationError("negotiation_failed", message, { phase, stderrTail }));
  }

  async #greetOnce(greeting: Greeting): Promise<Peer> {
    const known = this.#known;
    try {
      return await this.#greetAs(greeting, known?.era ?? this.#settings.era);
    } catch (error) {
      // What was known of the server no longer holds: it is asked anew (rule E4).
      if (known === undefined || !(error instanceof NegotiationError)) throw error;
      this.forget();
    }
    return await this.#greetAs(greeting, this.#settings.era);
  }

  /** A legacy server that does not bear the probe is started once more, and not probed (rule E2). */
  async #greetAs(greeting: Greeting, era: ClientSettings["era"]): Promise<Peer> {
    try {
      return await this.#negotiate(greeting, era);
    } catch (error) {
      const wasProbed = error instanceof SpoiltByProbe || (error instanceof EndedEarly && error.probed);
      const mayRelaunch = era === "auto" && wasProbed && this.#settings.canRelaunch && !greeting.isOver;
      if (!mayRelaunch) throw await this.#explain(greeting, error);
    }
    greeting.link = await this.#port.relaunch(greeting.link);
    try {
      return await this.#negotiate(greeting, "legacy");
    } catch (error) {
      throw await this.#explain(greeting, error);
    }
  }

  async #explain({ link }: Greeting, error: unknown): Promise<unknown> {
    if (error instanceof SpoiltByProbe) return error.refusal;
    return error instanceof EndedEarly ? await this.#endedEarly(link, error) : error;
  }

  #negotiate(greeting: Greeting, era: ClientSettings["era"]): Promise<Peer> {
    const { info, capabilities, probeTimeoutMs, clock } = this.#settings;
    return negotiate(this.#exchange(greeting), {
      era,
      probeTimeoutMs,
      meta: { [MetaKey.clientInfo]: info, [MetaKey.clientCapabilities]: capabilities },
      handshake: { capabilities, clientInfo: info },
      clock,
      shown: () => this.#shown,
    });
  }

  /** Bound to one server: what was meant for it never reaches another one. */
  #exchange({ link, asked }: Greeting): Exchange {
    const ask = async (method: string, params: Params): Promise<ProbeOutcome> => {
      if (this.#sender.link !== link || this.#port.hasEnded(link)) return { kind: "ended" };
      if (method === "initialize") this.#isHandshaking = true;
      const call = new Call(method, params, GREETING_SETTINGS);
      asked.add(call);
      this.#table.begin(call);
      this.#sender.post(call);
      return await call.promise.then((result): ProbeOutcome => ({ kind: "result", result }), toOutcome);
    };
    return {
      firstSign: link.firstSign,
      tell: (method) => {
        if (this.#sender.link === link) this.#sender.tell({ jsonrpc: "2.0", method });
      },
      // What a server has printed before its first answer may have spoilt that; it is asked once more.
      ask: async (method, params) => {
        const outcome = await ask(method, params);
        return outcome.kind === "unreadable" ? await ask(method, params) : outcome;
      },
    };
  }

  #timeoutError(greeting: Greeting): NegotiationError {
    const { connectTimeoutMs } = this.#settings;
    const phase = phaseOf(greeting);
    const { stderrTail } = greeting.link;
    const state = `no answer to the ${phase} within ${connectTimeoutMs} ms${this.#installing(greeting.link)}`;
    return new NegotiationError(
      "negotiation_timeout",
      `Cannot use the server${this.#shown}: ${state}${this.#hint}${describeStderr(stderrTail)}`,
      { phase, stderrTail },
    );
  }

  /** A server that ended before it answered, with what it left behind (case B79). */
  async #endedEarly(link: Link, { phase }: EndedEarly): Promise<Error> {
    const { command, graces } = this.#settings;
    if (command === undefined) {
      const message = `Cannot use the server: it ended before it answered the ${phase}${this.#hint}`;
      return new NegotiationError("negotiation_failed", message, { phase });
    }
    const { exit, step } = await link.end(graces);
    const { stderrTail } = link;
    const state = step === "already" || step === "eof"
      ? `it exited before answering the ${phase}, with ${describeExit(exit)}`
      : `it ended its output before answering the ${phase}, and stayed`;
    const message = `Cannot use the server${this.#shown}: ${state}${describeStderr(stderrTail)}`;
    return new ProcessError("exited_early", message, {
      ...command,
      exit,
      stderrTail,
      hint: this.#port.hint(),
    });
  }

  /** A server that has not said anything may not be there yet. */
  #installing({ bytesRead }: Link): string {
    const { command } = this.#settings;
    const installer = command && bytesRead === 0 ? installerOf(command.command, command.args) : undefined;
    return installer === undefined
      ? ""
      : `; ${installer} may still be installing it, for which connectTimeoutMs can give it more time`;
  }

  get #shown(): string {
    const { command } = this.#settings;
    return command === undefined ? "" : ` ${command.line}`;
  }

  get #hint(): string {
    const hint = this.#port.hint();
    return hint === undefined ? "" : ` (${hint})`;
  }
}

function phaseOf({ asked }: Greeting): "handshake" | "probe" {
  return [...asked].some(({ method }) => method === "initialize") ? "handshake" : "probe";
}

/** @throws {FrameError} If the question cannot be written: no server is to blame. */
function toOutcome(error: unknown): ProbeOutcome {
  if (error instanceof FrameError) throw error;
  if (error instanceof ProtocolError) return { kind: "error", error: error.toJSON() };
  if (error instanceof InvalidResponseError) {
    const { reason, cause } = error;
    return { kind: cause === undefined ? "unreadable" : "invalid", reason };
  }
  return { kind: "ended" };
}

/** Programs that install a server before they start it, by themselves or by their first words. */
const INSTALLERS: ReadonlyArray<readonly [command: string, ...words: string[]]> = [
  ["npx"],
  ["pnpx"],
  ["bunx"],
  ["uvx"],
  ["npm", "exec"],
  ["npm", "x"],
  ["pnpm", "dlx"],
  ["yarn", "dlx"],
  ["bun", "x"],
  ["uv", "tool", "run"],
  ["pipx", "run"],
  ["docker", "run"],
  ["podman", "run"],
];

/** The program that a command installs the server with; undefined if it is not known to install anything. */
export function installerOf(command: string, args: readonly string[]): string | undefined {
  const name = command.replace(/^.*[\\/]/, "").replace(/\.(?:cmd|exe|bat|ps1)$/i, "").toLowerCase();
  const found = INSTALLERS.find(([program, ...words]) =>
    program === name && words.every((word, index) => args[index] === word)
  );
  if (found !== undefined) return found.join(" ");
  const runsRemote = name === "deno" && args.some((arg) => /^(?:npm|jsr|https?):/.test(arg));
  return runsRemote ? "deno" : undefined;
}
