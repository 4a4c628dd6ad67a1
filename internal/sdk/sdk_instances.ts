import type { Era, JSONRPCMessage, RequestId } from "../../messages.ts";
import { SdkInstance } from "./sdk_instance.ts";
import {
  makeModern,
  type ModernServer,
  modernServerOf,
  type SdkServer,
  type SdkServerFactory,
} from "./sdk_shapes.ts";
import { closed } from "./transport_errors.ts";

/** What the instances speak through. */
export interface SdkInstancesPort {
  send(era: Era, message: JSONRPCMessage, relatedId: RequestId | undefined): Promise<void>;
  /** One of the instances has closed itself. */
  closed(): void;
}

/** The servers that a factory makes: one for each era, when it is first asked for, since an instance of SDK 2.x knows one era. */
export class SdkInstances {
  readonly #factory: SdkServerFactory;
  readonly #port: SdkInstancesPort;
  readonly #made = new Map<Era, Promise<SdkInstance | undefined>>();
  readonly #connected: SdkInstance[] = [];
  /** A server that was made for an era it does not know; it is as good as another for the one it knows. */
  #spare: SdkServer | undefined;
  #modern: ModernServer | undefined;
  #areLegacyOnly = false;
  #isClosed = false;

  constructor(factory: SdkServerFactory, port: SdkInstancesPort) {
    this.#factory = factory;
    this.#port = port;
  }

  /** Those that are connected. */
  get connected(): readonly SdkInstance[] {
    return this.#connected;
  }

  /** The server of the modern era. */
  get modern(): ModernServer | undefined {
    return this.#modern;
  }

  /** Whether the factory is known to make servers of SDK 1.x. */
  get areLegacyOnly(): boolean {
    return this.#areLegacyOnly;
  }

  /** Whether there is an instance for an era, or will be. */
  has(era: Era): boolean {
    return this.#made.has(era);
  }

  /**
   * The instance for an era, made if it has to be; undefined if the factory's servers cannot serve it. Rejects as the factory does;
   * the next call tries again.
   */
  of(era: Era): Promise<SdkInstance | undefined> {
    const known = this.#made.get(era);
    if (known !== undefined) return known;
    // One after the other: the first tells whether the factory's servers know both eras.
    const others = [...this.#made.values()];
    const made = Promise.allSettled(others).then(() => this.#make(era));
    this.#made.set(era, made);
    made.catch(() => this.#made.delete(era));
    return made;
  }

  /** Closes all; nothing is made any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const products = this.#connected.map(({ product }) => product);
    if (this.#spare !== undefined) products.push(this.#spare);
    await Promise.allSettled(products.map(async (product) => await product.close()));
  }

  async #make(era: Era): Promise<SdkInstance | undefined> {
    if (era === "modern" && this.#areLegacyOnly) return undefined;
    const product = this.#spare ?? await this.#factory({ era });
    this.#spare = undefined;
    if (this.#isClosed) {
      await product.close();
      throw closed();
    }
    if (this.#connected.some((instance) => instance.product === product)) {
      throw new TypeError("Cannot serve another era: the factory must make a new server with each call");
    }
    const modern = modernServerOf(product);
    this.#areLegacyOnly = modern === undefined;
    if (era === "modern") {
      if (modern === undefined) {
        this.#spare = product;
        return undefined;
      }
      makeModern(modern);
      this.#modern = modern;
    }
    return await this.#connect(era, product);
  }

  async #connect(era: Era, product: SdkServer): Promise<SdkInstance> {
    const instance = new SdkInstance(
      product,
      (message, relatedId) => this.#port.send(era, message, relatedId),
      () => {
        if (!this.#isClosed) this.#port.closed();
      },
    );
    await product.connect(instance);
    this.#connected.push(instance);
    return instance;
  }
}
