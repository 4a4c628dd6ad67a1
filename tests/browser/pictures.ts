// Makes the pictures of the docs: the page of `show --html`, light and dark, and what `doctor` says. Run by `deno task pictures`.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { readRecording } from "../../internal/cli/recording/read_recording.ts";
import { buildModel } from "../../internal/cli/show/model.ts";
import { formatPage } from "../../internal/cli/show/page.ts";
import { ROOT } from "../_sources.ts";
import { runCli } from "../cli_helpers.ts";
import { bytesOf } from "../helpers.ts";
import { ansiToSvg } from "./ansi_svg.ts";
import { openBrowser } from "./browser.ts";
import { makeSampleRecording } from "./sample_session.ts";

const pictures = join(ROOT, "docs/pictures");
mkdirSync(pictures, { recursive: true });
await drawDoctor();
await drawPage();
process.exit();

/** What `doctor` says of a server with faults, as it is seen in a terminal. */
async function drawDoctor(): Promise<void> {
  process.chdir(join(ROOT, "tests/browser"));
  const { stdout } = await runCli(["doctor", "--", "node", "weather-server.js"], {
    isTerminal: true,
    columns: 104,
  });
  // What is least is left away: the picture is of what one does first.
  const lines = stdout.trimEnd().split("\n");
  const end = lines.findIndex((line) => /Not told|Notes|Skipped/.test(line));
  const shown = [...lines.slice(0, end), "  …", "", lines.at(-1)!].join("\n");
  const title = "npx @mcp/stdio doctor -- node weather-server.js";
  writeFileSync(join(pictures, "doctor.svg"), ansiToSvg(shown, title, 104));
  process.stdout.write("docs/pictures/doctor.svg\n");
}

/** The page, with a request chosen that failed. */
async function drawPage(): Promise<void> {
  const browser = await openBrowser();
  if (typeof browser === "string") throw new Error(`Cannot draw the page: ${browser}`);
  const folder = mkdtempSync(join(tmpdir(), "pictures-"));
  const path = join(folder, "page.html");
  writeFileSync(path, await formatPage(buildModel(readRecording(bytesOf(makeSampleRecording())).events)));
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme });
    await page.goto(pathToFileURL(path).href);
    await page.waitForFunction("document.documentElement.dataset.ready === 'yes'");
    await page.screenshot({ path: join(pictures, `show_${colorScheme}.png`) });
    process.stdout.write(`docs/pictures/show_${colorScheme}.png\n`);
    await page.close();
  }
  await browser.close();
  rmSync(folder, { recursive: true });
}
