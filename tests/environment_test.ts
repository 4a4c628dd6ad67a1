import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type EnvironmentRequest,
  listInheritedNames,
  resolveEnvironment,
  SAFE_ENVIRONMENT_NAMES,
} from "../internal/environment.ts";
import { getVariable } from "../internal/variables.ts";

function resolve(request: Partial<EnvironmentRequest>): Record<string, string> {
  return resolveEnvironment({
    os: "posix",
    own: {},
    inheritEnv: "safe",
    passEnv: [],
    env: {},
    ...request,
  });
}

test("resolveEnvironment() merges env over the safe base, so PATH and HOME stay (P1, B111)", () => {
  const own = { PATH: "/usr/bin", HOME: "/home/me", AWS_SECRET_ACCESS_KEY: "s" };
  assert.deepEqual(resolve({ own, env: { TOKEN: "x" } }), {
    PATH: "/usr/bin",
    HOME: "/home/me",
    TOKEN: "x",
  });
});

const passed: readonly [os: "posix" | "windows", names: string][] = [
  ["posix", "PATH HOME USER LOGNAME SHELL TERM TZ TMPDIR TMP TEMP"],
  ["posix", "LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES"],
  ["posix", "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy"],
  ["posix", "SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE"],
  ["posix", "XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_RUNTIME_DIR"],
  ["windows", "Path PathExt ComSpec windir SystemRoot SystemDrive ProgramFiles ProgramFiles(x86)"],
  ["windows", "APPDATA LOCALAPPDATA USERPROFILE HOMEDRIVE HOMEPATH TEMP TMP USERNAME"],
  ["windows", "NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE https_proxy SSL_CERT_FILE LANG"],
];
for (const [os, names] of passed) {
  test(`resolveEnvironment() passes ${names} in safe mode on ${os} (P1, B113)`, () => {
    const own = Object.fromEntries(names.split(" ").map((name) => [name, `value of ${name}`]));
    assert.deepEqual(resolve({ os, own }), own);
  });
}

const heldBack = "NODE_OPTIONS LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES DENO_DIR DENO_AUTH_TOKENS " +
  "BUN_OPTIONS BUN_INSTALL AWS_SECRET_ACCESS_KEY GITHUB_TOKEN PWD LC_EVIL XDG_EVIL";
for (const os of ["posix", "windows"] as const) {
  test(`resolveEnvironment() holds back steering names and secrets in safe mode on ${os} (P1, B113)`, () => {
    const own = Object.fromEntries(heldBack.split(" ").map((name) => [name, "x"]));
    assert.deepEqual(resolve({ os, own }), {});
  });
}

test("SAFE_ENVIRONMENT_NAMES hold no name that steers a program (P1)", () => {
  for (const names of Object.values(SAFE_ENVIRONMENT_NAMES)) {
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual(names.filter((name) => /^(LD_|DYLD_|DENO_|BUN_|NODE_OPTIONS)/i.test(name)), []);
  }
});

test("resolveEnvironment() drops shell functions in safe mode and keeps them in mode all (P1)", () => {
  const own = { HOME: "() { :; }; echo pwned", TERM: "(x)", "BASH_FUNC_ls%%": "() { :; }" };
  assert.deepEqual(resolve({ own, passEnv: ["BASH_FUNC_*"] }), { TERM: "(x)" });
  assert.deepEqual(resolve({ own, inheritEnv: "none", passEnv: ["HOME"] }), {});
  assert.deepEqual(resolve({ own, inheritEnv: "all" }), own);
});

test("resolveEnvironment() takes everything in mode all and nothing in mode none (P1, B111)", () => {
  const own = { PATH: "/bin", LD_PRELOAD: "x.so", SECRET: "s" };
  assert.deepEqual(resolve({ own, inheritEnv: "all", env: { A: "1" } }), { ...own, A: "1" });
  assert.deepEqual(resolve({ own, inheritEnv: "none", env: { A: "1" } }), { A: "1" });
  assert.deepEqual(resolve({ own, inheritEnv: "none", passEnv: ["SECRET"] }), { SECRET: "s" });
});

const patterns: readonly [passEnv: string[], taken: string[]][] = [
  [["GH_TOKEN"], ["GH_TOKEN"]],
  [["GH_*"], ["GH_TOKEN", "GH_HOST"]],
  [["*"], ["GH_TOKEN", "GH_HOST", "NODE_ENV"]],
  [["NODE_*"], ["NODE_ENV"]],
  [["NODE_OPTIONS"], ["NODE_OPTIONS"]],
  [["L*", "DENO*"], []],
  [["LD_*"], ["LD_PRELOAD"]],
  [["DENO_*", "NODE_OPTIONS*"], ["NODE_OPTIONS", "DENO_DIR"]],
  [["gh_*"], []],
  [["MISSING"], []],
];
for (const [passEnv, taken] of patterns) {
  test(`resolveEnvironment() passes ${taken.join(", ") || "nothing"} for passEnv ${passEnv} (P1)`, () => {
    const names = ["GH_TOKEN", "GH_HOST", "NODE_ENV", "NODE_OPTIONS", "LD_PRELOAD", "DENO_DIR"];
    const own = Object.fromEntries(names.map((name) => [name, "x"]));
    assert.deepEqual(Object.keys(resolve({ own, passEnv })), taken);
  });
}

test("resolveEnvironment() removes names that env gives as undefined or null (P1)", () => {
  const own = { PATH: "/bin", HOME: "/h", TERM: "dumb" };
  assert.deepEqual(resolve({ own, env: { HOME: undefined, TERM: null, X: undefined, LANG: "" } }), {
    PATH: "/bin",
    LANG: "",
  });
});

for (const inheritEnv of ["safe", "all"] as const) {
  test(`resolveEnvironment() keeps one entry per Windows name, env's value first, in mode ${inheritEnv} (B128)`, () => {
    const own = { Path: "C:\\own", PATH: "C:\\other", PathExt: ".EXE", SystemRoot: "C:\\Windows" };
    const env = { PATH: "C:\\config", path: "C:\\last", PATHEXT: ".CMD" };
    assert.deepEqual(resolve({ os: "windows", own, inheritEnv, env }), {
      path: "C:\\last",
      PATHEXT: ".CMD",
      SystemRoot: "C:\\Windows",
    });
  });
}

test("resolveEnvironment() removes and passes Windows names whatever their case (B128)", () => {
  const own = { Path: "C:\\a", Gh_Token: "t", "=C:": "C:\\x" };
  assert.deepEqual(resolve({ os: "windows", own, passEnv: ["gh_*"], env: { PATH: null } }), {
    Gh_Token: "t",
  });
  assert.deepEqual(resolve({ os: "windows", own, inheritEnv: "all" }), { Path: "C:\\a", Gh_Token: "t" });
});

test("resolveEnvironment() takes the first of two names of this process that differ in case on Windows (B128)", () => {
  assert.deepEqual(resolve({ os: "windows", own: { Path: "1", PATH: "2" } }), { Path: "1" });
});

test("resolveEnvironment() keeps POSIX names apart that differ in case (B128)", () => {
  assert.deepEqual(resolve({ own: { PATH: "/a" }, env: { Path: "/b" } }), { PATH: "/a", Path: "/b" });
});

test("resolveEnvironment() folds Windows names one character at a time (B128)", () => {
  const env = { ß: "1", SS: "2", ä: "3", Ä: "4" };
  assert.deepEqual(resolve({ os: "windows", env }), { ß: "1", SS: "2", Ä: "4" });
});

test("resolveEnvironment() treats __proto__ and constructor as plain names (P1)", () => {
  const env = JSON.parse('{"__proto__":"a","constructor":"b"}');
  const resolved = resolve({ env });
  assert.deepEqual(Object.entries(resolved), [["__proto__", "a"], ["constructor", "b"]]);
});

const refused: readonly [title: string, env: Record<string, unknown>, message: RegExp][] = [
  ["an empty name", { "": "x" }, /^Cannot set an environment variable: its name is empty$/],
  ["a name with =", { "A=B": "hush" }, /"A=B".*"="/],
  ["a name with NUL", { "A\0": "hush" }, /"A\\u0000".*NUL/],
  ["a value with NUL", { A: "hush\0" }, /"A".*value holds a NUL/],
  ["a number", { A: 3000 }, /"A".*no string, but a number/],
];
for (const [title, env, message] of refused) {
  test(`resolveEnvironment() refuses ${title} and shows no value (P1, S2-50)`, () => {
    assert.throws(() => resolve({ env: env as Record<string, string> }), (error: unknown) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /hush|3000/);
      return true;
    });
  });
}

test("listInheritedNames() gives the safe names and passEnv, each once (P1)", () => {
  const names = listInheritedNames({ os: "posix", inheritEnv: "safe", passEnv: ["GH_TOKEN", "PATH"] });
  assert.ok(names !== undefined);
  assert.equal(new Set(names).size, names.length);
  assert.deepEqual(new Set(names), new Set([...SAFE_ENVIRONMENT_NAMES.posix, "GH_TOKEN"]));
});

test("listInheritedNames() asks for everything only in mode all or for a pattern (P1)", () => {
  assert.equal(listInheritedNames({ os: "posix", inheritEnv: "all", passEnv: [] }), undefined);
  assert.equal(listInheritedNames({ os: "posix", inheritEnv: "none", passEnv: ["GH_*"] }), undefined);
  assert.deepEqual(listInheritedNames({ os: "posix", inheritEnv: "none", passEnv: [] }), []);
  assert.deepEqual(listInheritedNames({ os: "windows", inheritEnv: "none", passEnv: ["a", "A"] }), ["A"]);
});

test("listInheritedNames() is enough: what is read by it resolves as the whole environment would (P1)", () => {
  const own = { PATH: "/bin", LC_CTYPE: "C", LC_EVIL: "x", GH_TOKEN: "t", SECRET: "s" };
  const request = { os: "posix", inheritEnv: "safe", passEnv: ["GH_TOKEN"] } as const;
  const names = listInheritedNames(request) ?? [];
  const read = Object.fromEntries(Object.entries(own).filter(([name]) => names.includes(name)));
  assert.deepEqual(resolve({ ...request, own: read }), resolve({ ...request, own }));
});

test("getVariable() ignores case on Windows only and knows own names only (B128)", () => {
  assert.equal(getVariable("windows", { Path: "C:\\a" }, "PATH"), "C:\\a");
  assert.equal(getVariable("posix", { Path: "/a" }, "PATH"), undefined);
  assert.equal(getVariable("posix", {}, "constructor"), undefined);
});
