/** A chromium that is installed, driven through npm's `playwright-core`; and what of it the tests use, as types. */

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "../_sources.ts";
import { installPackages } from "../peers/npm_install.ts";

/** A page. */
export interface Page {
  goto(url: string): Promise<unknown>;
  evaluate<T>(what: string): Promise<T>;
  waitForFunction(what: string): Promise<unknown>;
  screenshot(options: { path: string }): Promise<unknown>;
  close(): Promise<void>;
  on(
    event: "request" | "console" | "pageerror",
    listener: (what: { url(): string; text(): string }) => void,
  ): void;
  readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> };
  readonly mouse: {
    move(x: number, y: number): Promise<void>;
    click(x: number, y: number): Promise<void>;
    wheel(dx: number, dy: number): Promise<void>;
    down(): Promise<void>;
    up(): Promise<void>;
  };
  locator(selector: string): {
    click(): Promise<void>;
    hover(): Promise<void>;
    innerText(): Promise<string>;
    count(): Promise<number>;
    first(): ReturnType<Page["locator"]>;
    getAttribute(name: string): Promise<string | null>;
  };
}

/** A browser. */
export interface Browser {
  newPage(options: {
    viewport: { width: number; height: number };
    colorScheme: "light" | "dark";
    deviceScaleFactor?: number;
  }): Promise<Page>;
  close(): Promise<void>;
}

const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-sync",
  "--no-first-run",
  "--disable-component-update",
];

/** Starts a browser, or says why there is none. Each has a new profile, which is gone with it. */
export async function openBrowser(): Promise<Browser | string> {
  const program = process.env["CHROMIUM"] ?? PROGRAMS.find((path) => existsSync(path));
  if (program === undefined) return "there is no chromium: apt-get install chromium, or CHROMIUM=path of one";
  const folder = join(ROOT, "tests/browser");
  const problem = await installPackages(folder);
  if (problem !== undefined) return `playwright-core is not there: ${problem}`;
  const { chromium } = createRequire(join(folder, "package.json"))("playwright-core") as {
    chromium: { launch(options: { executablePath: string; args: string[] }): Promise<Browser> };
  };
  return await chromium.launch({ executablePath: program, args: FLAGS });
}
