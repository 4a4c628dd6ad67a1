/** What user code may hand in: values that cannot be written, and values that do something when they are looked at. */

function fail(): never {
  throw new Error("looked at");
}

const HOSTILE_TRAPS: ProxyHandler<object> = {
  get: fail,
  has: fail,
  ownKeys: fail,
  getPrototypeOf: fail,
  getOwnPropertyDescriptor: fail,
};

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function cycle(): unknown {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}

function deep(): unknown {
  let value: unknown = {};
  for (let level = 0; level < 600; level++) value = { value };
  return value;
}

/** Each is made anew: some can be used once only. */
const ODD_VALUES: { readonly [name: string]: () => unknown } = {
  bigint: () => ({ value: 1n }),
  bare_bigint: () => 5n,
  cycle,
  deep,
  getter: () => ({
    get value(): unknown {
      return fail();
    },
  }),
  toJSON_throws: () => ({ toJSON: fail }),
  toJSON_undefined: () => ({ toJSON: () => undefined }),
  toJSON_text: () => ({ toJSON: () => "text" }),
  then_throws: () => ({
    get then(): unknown {
      return fail();
    },
  }),
  then_rejects: () => ({
    then: (_: unknown, reject: (error: unknown) => void) => reject(new Error("by then")),
  }),
  then_twice: () => ({
    then: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
      resolve({});
      reject(new Error("twice"));
      resolve({});
    },
  }),
  then_never: () => ({ then: () => {} }),
  proxy: () => new Proxy({}, HOSTILE_TRAPS),
  function_proxy: () => new Proxy(() => {}, HOSTILE_TRAPS),
  revoked,
  lying_error: () => Object.defineProperty(new Error("x"), "message", { get: fail }),
  bigint_error: () => Object.assign(new Error("x"), { message: 5n }),
  odd_code: () => Object.assign(new Error("x"), { code: NaN, name: Symbol("name") }),
  huge: () => "h".repeat(30_000),
  huge_object: () => ({ value: "h".repeat(30_000) }),
  huge_error: () => new Error("h".repeat(30_000)),
  surrogate: () => ({ value: "cut \ud83d here", "\udc00": 1 }),
  bare_surrogate: () => "cut \ud83d here",
  not_a_number: () => NaN,
  date: () => new Date(0),
  map: () => new Map([[1, 2]]),
  symbol: () => Symbol("odd"),
  function: () => () => 1,
  null: () => null,
  undefined: () => undefined,
  array: () => [1, [2]],
  number: () => 7,
  text: () => "text",
  empty: () => ({}),
  no_prototype: () => Object.create(null),
  proto: () => JSON.parse('{"__proto__":{"polluted":1},"constructor":1,"then":1}'),
};

/** The name of an odd value. */
export type OddName = string;

/** The names of all of them. */
export const ODD_NAMES: readonly OddName[] = Object.keys(ODD_VALUES);

/** Makes one. */
export function odd(name: OddName): unknown {
  return ODD_VALUES[name]!();
}
