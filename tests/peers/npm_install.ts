/** Installs what cannot be a dependency of the repository, with npm, into a folder of its own. */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** How long npm may take. */
const LIMIT_MS = 300_000;

/**
 * Installs the packages that the `package.json` of a folder pins, unless they are there.
 *
 * @returns Why they are not there; undefined if they are.
 */
export async function installPackages(folder: string): Promise<string | undefined> {
  if (isInstalled(folder)) return undefined;
  const problem = await runNpm(folder);
  if (problem === undefined) return isInstalled(folder) ? undefined : "npm has installed something else";
  return problem;
}

function isInstalled(folder: string): boolean {
  const { dependencies } = readJson(join(folder, "package.json")) as { dependencies: Record<string, string> };
  return Object.entries(dependencies).every(([name, version]) => {
    try {
      return readJson(join(folder, "node_modules", name, "package.json")).version === version;
    } catch {
      return false;
    }
  });
}

/** Whatever fails is told in one line: the tests that need the packages are skipped with it. */
function runNpm(cwd: string): Promise<string | undefined> {
  const args = [
    "install",
    ...["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error"],
    // Without a network the reason is told soon.
    ...["--fetch-retries=1", "--fetch-retry-mintimeout=2000"],
  ];
  const npm = spawn("npm", args, {
    cwd,
    stdio: ["ignore", "ignore", "pipe"],
    timeout: LIMIT_MS,
    shell: process.platform === "win32",
  });
  let stderr = "";
  npm.stderr.on("data", (chunk) => stderr += chunk);
  return new Promise((resolve) => {
    npm.on("error", (error) => resolve(`npm cannot be run: ${error.message}`));
    npm.on("close", (code, signal) => {
      const lines = stderr.trim().split("\n").slice(0, 2).join(" ");
      resolve(code === 0 ? undefined : `npm install has failed (${signal ?? code}): ${lines}`);
    });
  });
}

function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, "utf8"));
}
