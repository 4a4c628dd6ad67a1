// The pages of the docs, as text: their blocks of code, and where these come from. `deno task docs` writes each block anew, and the
// figures of the README.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { ROOT } from "./_sources.ts";

/** Where the repository is seen from outside: the README uses whole links, since npm and JSR show it elsewhere. */
const HOME = "https://github.com/mcp/stdio/blob/main/";
const RAW = "https://raw.githubusercontent.com/mcp/stdio/main/";

/** A fenced block of a page. */
export interface Block {
  /** The page, as a path from the root. */
  readonly page: string;
  /** The line of its fence, from 1. */
  readonly line: number;
  /** The first word behind the fence. */
  readonly language: string;
  /** The other words: `name="value"`, or a name alone. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A page of the docs. */
export interface Page {
  /** As a path from the root. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

/** The file and the region that a block shows. */
export interface Source {
  /** As a path from the root. */
  readonly file: string;
  /** Undefined for all of it. */
  readonly region: string | undefined;
}

/** README.md, the index of the examples, and every page in docs/. */
export function readPages(): Page[] {
  const docs = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md")).sort();
  return ["README.md", "examples/README.md", ...docs.map((name) => `docs/${name}`)].map(readPage);
}

/** Pages beside the docs, whose links must lead somewhere too. */
export function readOtherPages(): Page[] {
  return ["CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(readPage);
}

function readPage(path: string): Page {
  const text = readFileSync(join(ROOT, path), "utf8");
  return { path, text, blocks: readBlocks(path, text) };
}

function readBlocks(page: string, text: string): Block[] {
  const blocks: Block[] = [];
  let open: { line: number; info: string; lines: string[] } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (open === undefined) {
      if (line.startsWith("```")) open = { line: index + 1, info: line.slice(3), lines: [] };
    } else if (line === "```") {
      blocks.push(toBlock(page, open));
      open = undefined;
    } else open.lines.push(line);
  }
  if (open !== undefined) throw new Error(`${page}:${open.line}: the block is not closed`);
  return blocks;
}

function toBlock(
  page: string,
  { line, info, lines }: { line: number; info: string; lines: string[] },
): Block {
  const [language = "", ...rest] = info.split(" ");
  const words = rest.join(" ").matchAll(/(\w+)(?:="([^"]*)")?/g);
  const attributes = new Map([...words].map(([, name = "", value = ""]) => [name, value]));
  return { page, line, language, attributes, body: lines.map((each) => `${each}\n`).join("") };
}

/** Where a block stands, for people. */
export function placeOf({ page, line }: Block): string {
  return `${page}:${line}`;
}

/** Where a block comes from; undefined if it does not say. */
export function sourceOf({ page, attributes }: Block): Source | undefined {
  const source = attributes.get("source");
  if (source === undefined) return undefined;
  const [path = "", region] = source.split("#");
  return { file: relative(ROOT, join(ROOT, dirname(page), path)), region };
}

/** What a block should hold: a file without its leading comments for tools, or a region of it. */
export function readSource({ file, region }: Source): string {
  const text = readFileSync(join(ROOT, file), "utf8");
  if (region === undefined) return withoutRegions(text.replace(/^(?:\/\/ deno-lint-ignore-file.*\n)+/, ""));
  const begin = `//#region ${region}\n`;
  const start = text.indexOf(begin);
  const end = text.indexOf("//#endregion\n", start);
  if (start < 0 || end < 0) throw new Error(`${file} has no region "${region}"`);
  return withoutRegions(text.slice(start + begin.length, end));
}

function withoutRegions(text: string): string {
  const lines = text.split("\n").filter((line) =>
    !/^\s*\/\/(?:#region|#endregion| deno-lint-ignore)/.test(line)
  );
  const indents = lines.filter((line) => line.trim() !== "").map((line) => /^ */.exec(line)![0].length);
  const shared = Math.min(...indents);
  return `${lines.map((line) => line.slice(shared)).join("\n").replaceAll(/\n{3,}/g, "\n\n").trim()}\n`;
}

/** A page with each of its blocks as the files have it, and its figures as they were measured. */
export function rewrite({ path, text, blocks }: Page): string {
  const lines = text.split("\n");
  for (const block of blocks.toReversed()) {
    const source = sourceOf(block);
    if (source === undefined) continue;
    lines.splice(block.line, block.body.split("\n").length - 1, ...readSource(source).trimEnd().split("\n"));
  }
  return path === "README.md" ? withFigures(lines.join("\n")) : lines.join("\n");
}

/** How many times as good as the official SDK a work was done, by the words of the README behind the figures. */
const FIGURES: ReadonlyArray<readonly [words: string, work: string]> = [
  ["times as many small calls", "echo of 100 B, 64 in flight"],
  ["times as soon", "spawn to first answer"],
];

/** The README with the figures of the last measurement. */
function withFigures(text: string): string {
  const results = readFileSync(join(ROOT, "bench/RESULTS.md"), "utf8").split("\n");
  const head = results.find((line) => line.startsWith("| work ")) ?? "";
  const column = cellsOf(head).indexOf("ours : official");
  let written = text;
  for (const [words, work] of FIGURES) {
    const ratios = results.filter((line) => line.startsWith(`| ${work} (`)).map((line) =>
      cellsOf(line)[column]!
    );
    if (ratios.length < 3) throw new Error(`bench/RESULTS.md has ${ratios.length} results of "${work}"`);
    const sorted = ratios.toSorted((one, other) => Number(one) - Number(other));
    const pattern = new RegExp(`[\\d.]+(\\s+)to(\\s+)[\\d.]+(\\s+${words.replaceAll(" ", "\\s+")})`);
    if (!pattern.test(text)) throw new Error(`README.md does not say how many "${words}"`);
    written = written.replace(pattern, `${sorted[0]}$1to$2${sorted.at(-1)}$3`);
  }
  return written;
}

/** The cells of a row of a table. */
function cellsOf(row: string): string[] {
  return row.split("|").slice(1, -1).map((cell) => cell.trim());
}

/** A link of a page to something in the repository. */
export interface Link {
  readonly line: number;
  /** As it is written. */
  readonly written: string;
  /** What it leads to, as a path from the root. */
  readonly file: string;
  /** The place in it, if it names one. */
  readonly anchor: string | undefined;
}

/** The links and pictures of a page that lead into the repository. */
export function linksOf({ path, text, blocks }: Page): Link[] {
  const inBlocks = new Set(
    blocks.flatMap(({ line, body }) => body.split("\n").map((_, index) => line + index)),
  );
  return text.split("\n").flatMap((content, index) => {
    if (inBlocks.has(index)) return [];
    const found = content.replaceAll(/`[^`]*`/g, "").matchAll(
      /\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g,
    );
    return [...found].flatMap(([, inMarkdown, inHtml]) => {
      const written = inMarkdown ?? inHtml ?? "";
      const own = [HOME, RAW].find((home) => written.startsWith(home));
      if (own === undefined && /^[a-z]+:/.test(written)) return [];
      const [target = "", anchor] = (own === undefined ? written : written.slice(own.length)).split("#");
      const file = own !== undefined
        ? target
        : target === ""
        ? path
        : relative(ROOT, join(ROOT, dirname(path), target));
      return [{ line: index + 1, written, file, anchor }];
    });
  });
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf({ text, blocks }: Page): string[] {
  const inBlocks = new Set(
    blocks.flatMap(({ line, body }) => body.split("\n").map((_, index) => line + index)),
  );
  const known = new Map<string, number>();
  return text.split("\n").flatMap((line, index) => {
    const heading = inBlocks.has(index) ? undefined : /^#{1,6} (.*)$/.exec(line)?.[1];
    if (heading === undefined) return [];
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const slug = plain.replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, "").replaceAll(/\s/g, "-");
    const count = known.get(slug) ?? 0;
    known.set(slug, count + 1);
    return [count === 0 ? slug : `${slug}-${count}`];
  });
}

if (process.argv[2] === "--write") {
  for (const page of readPages()) writeFileSync(join(ROOT, page.path), rewrite(page));
}
