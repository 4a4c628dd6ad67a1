// Fills a folder, build/bundle if none is given, with an ES module for each entry of deno.json. Each file takes a runtime a part
// of a start, so that a server and a client are a few: names, the face's own parts, and all that both load. What entries share is in a
// process once, whatever it imports.
//
// What the sources load when it is needed is in there at once: a file is loaded for all in any case, and a bundler that makes
// one file of a server and this, as Rollup does, would put what is loaded later behind the server's own `await serve()`. The
// program has bundles of its own.
import nodeResolve from "@rollup/plugin-node-resolve";
import { build, transform } from "esbuild";
import { readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { rollup } from "rollup";

// What stands in a type or a comment has another sign before it.
const LATER_REGEXP = /(?<!typeof )\bimport\(\s*"((?!node:)[^"]+)"\s*\)/g;
const { exports } = JSON.parse(readFileSync("deno.json", "utf8"));

const [outdir = "build/bundle"] = process.argv.slice(2);

const { "./cli": program, ...library } = exports;

rmSync(outdir, { recursive: true, force: true });
const bundle = await rollup({
  input: Object.fromEntries(Object.values(library).map((path) => [path.replace(/^\.\/|\.ts$/g, ""), path])),
  external: /^(node|bun):/,
  preserveEntrySignatures: "strict",
  plugins: [
    { name: "types", load: (id) => id.endsWith(".ts") ? toScript(readFileSync(id, "utf8")) : null },
    nodeResolve(),
  ],
  onwarn({ code, message }) {
    // The entries of types alone; and what is loaded later in the sources may need what loads it.
    if (code !== "EMPTY_BUNDLE" && code !== "CIRCULAR_DEPENDENCY") throw new Error(message);
  },
});
let faces;
await bundle.write({
  dir: outdir,
  format: "es",
  entryFileNames: "[name].js",
  chunkFileNames: "[name].js",
  hoistTransitiveImports: false,
  manualChunks(id, { getModuleInfo }) {
    faces ??= ["server", "client"].map((name) => [name, loadedWith(resolve(`${name}.ts`), getModuleInfo)]);
    const loading = faces.filter(([, loaded]) => loaded.has(id)).map(([name]) => name);
    return loading.length === 0 ? undefined : `parts/${loading.join("_and_")}`;
  },
});
await bundle.close();
await build({
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "neutral",
  target: "es2022",
  external: ["node:*", "bun:*"],
  entryPoints: [program],
  outdir: join(outdir, "program"),
});

/** A module without types, in which `import("x")` is a module that is imported at the top. */
async function toScript(source) {
  const imports = [];
  const contents = source.replaceAll(LATER_REGEXP, (_, module) => {
    const name = `at_once_${imports.length}`;
    imports.push(`import * as ${name} from ${JSON.stringify(module)};`);
    return `Promise.resolve(${name})`;
  });
  const { code } = await transform(`${imports.join("\n")}\n${contents}`, { loader: "ts", target: "es2022" });
  return code;
}

/** All modules that are loaded with one. */
function loadedWith(entry, getModuleInfo) {
  const loaded = new Set();
  const load = (id) => {
    if (loaded.has(id)) return;
    loaded.add(id);
    getModuleInfo(id).importedIds.forEach(load);
  };
  load(entry);
  return loaded;
}
