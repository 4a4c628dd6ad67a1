// Fills a folder, build/bundle if none is given, with an ES module for each entry of deno.json and chunks of what they share.
// What the sources load when it is needed is in there at once: a file is loaded for all in any case, and a bundler that makes
// one file of a server and this, as Rollup does, would put what is loaded later behind the server's own `await serve()`. The
// program has bundles of its own, so that it does not cut those of the library into more pieces.
import { build } from "esbuild";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

// What stands in a type or a comment has another sign before it.
const LATER_REGEXP = /(?<!typeof )\bimport\(\s*"((?!node:)[^"]+)"\s*\)/g;
const { exports } = JSON.parse(readFileSync("deno.json", "utf8"));

const [outdir = "build/bundle"] = process.argv.slice(2);

const { "./cli": program, ...library } = exports;
const options = {
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "neutral",
  target: "es2022",
  external: ["node:*", "bun:*"],
};

rmSync(outdir, { recursive: true, force: true });
await build({
  ...options,
  entryPoints: Object.values(library),
  outdir,
  plugins: [{ name: "at-once", setup: importAtOnce }],
});
await build({ ...options, entryPoints: [program], outdir: join(outdir, "program") });

/** Makes `import("x")` a module that is imported at the top. */
function importAtOnce({ onLoad }) {
  onLoad({ filter: /\.ts$/ }, ({ path }) => {
    const imports = [];
    const contents = readFileSync(path, "utf8").replaceAll(LATER_REGEXP, (_, module) => {
      const name = `at_once_${imports.length}`;
      imports.push(`import * as ${name} from ${JSON.stringify(module)};`);
      return `Promise.resolve(${name})`;
    });
    return { contents: `${imports.join("\n")}\n${contents}`, loader: "ts" };
  });
}
