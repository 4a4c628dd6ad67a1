// Gives the folder that tsc has filled a package.json of its own, so that the examples and the tests in it find the
// module under its name as JavaScript; with the argument "bundle" as the bundles that the npm tarball has.
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";

const { name, type, exports } = JSON.parse(readFileSync("package.json", "utf8"));
const isBundled = process.argv[2] === "bundle";
// The bundles of the program are a folder of their own.
const folderOf = (key) => isBundled ? key === "./cli" ? "./bundle/program/" : "./bundle/" : "./";
const toScript = ([key, path]) => [key, path.replace(/^\.\//, folderOf(key)).replace(/\.ts$/, ".js")];
const built = {
  name,
  private: true,
  type,
  exports: Object.fromEntries(Object.entries(exports).map(toScript)),
};
writeFileSync("build/package.json", JSON.stringify(built, undefined, 2));
