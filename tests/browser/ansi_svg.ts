/** Text of a terminal, with its colours, as a picture that is light or dark as the page around it. */

/** Widths of a monospaced font of 13 pixels. */
const COLUMN_WIDTH = 7.8;
const LINE_HEIGHT = 18;
const MARGIN = 20;
const TITLE_HEIGHT = 34;

const CLASSES: Readonly<Record<string, string>> = {
  "1": "bold",
  "2": "dim",
  "31": "red",
  "32": "green",
  "33": "yellow",
  "34": "blue",
  "35": "magenta",
  "36": "cyan",
};

const STYLE = `
.frame { fill: #fbfbf9; stroke: #dcdbd5; } .text { fill: #1d1d1a; } .dim, .title { fill: #706f68; } .bold { font-weight: 600; }
.red { fill: #c43030; } .green { fill: #23794f; } .yellow { fill: #96650a; } .blue { fill: #2a66bb; }
.magenta { fill: #8446be; } .cyan { fill: #1f7683; } .dot { fill: #d3d2cb; }
@media (prefers-color-scheme: dark) {
  .frame { fill: #1b1b19; stroke: #30302c; } .text { fill: #ebeae4; } .dim, .title { fill: #98968c; }
  .red { fill: #f07070; } .green { fill: #4fbf8b; } .yellow { fill: #e0b355; } .blue { fill: #77aaf0; }
  .magenta { fill: #bd8ae8; } .cyan { fill: #62bfcc; } .dot { fill: #3a3a36; }
}`;

/** Makes the picture; what stands behind so many columns is cut. */
export function ansiToSvg(text: string, title: string, columns: number): string {
  const lines = text.replace(/\n+$/, "").split("\n").map((line) => cut(line, columns));
  const width = Math.ceil(columns * COLUMN_WIDTH + 2 * MARGIN);
  const height = TITLE_HEIGHT + lines.length * LINE_HEIGHT + MARGIN;
  const rows = lines.map((line, index) => toRow(line, TITLE_HEIGHT + (index + 0.8) * LINE_HEIGHT));
  const dots = [0, 1, 2].map((at) => `<circle class="dot" cx="${MARGIN + at * 16}" cy="18" r="5"/>`).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${
    escape(title)
  }">
<style>${STYLE}
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; }
</style>
<rect class="frame" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="9"/>
${dots}<text class="title" x="${MARGIN + 56}" y="22">${escape(title)}</text>
${rows.filter((row) => row !== "").join("\n")}
</svg>
`;
}

/** One element for each run of one colour, at its own place: no font can put columns out of line. */
function toRow(line: string, y: number): string {
  let classes = new Set<string>();
  let column = 0;
  let row = "";
  // deno-lint-ignore no-control-regex -- that is what colours are made of
  for (const part of line.split(/(\x1b\[\d+m)/)) {
    // deno-lint-ignore no-control-regex -- see above
    const code = /^\x1b\[(\d+)m$/.exec(part)?.[1];
    if (code !== undefined) {
      classes = next(classes, code);
      continue;
    }
    if (part.trim() !== "") {
      const indent = part.length - part.trimStart().length;
      const x = (MARGIN + (column + indent) * COLUMN_WIDTH).toFixed(1);
      row += `<text class="${["text", ...classes].join(" ")}" x="${x}" y="${y.toFixed(1)}">${
        escape(part.trim())
      }</text>`;
    }
    column += part.length;
  }
  return row;
}

function next(classes: ReadonlySet<string>, code: string): Set<string> {
  const name = CLASSES[code];
  if (name !== undefined) return new Set([...classes, name]);
  // 39 ends a colour, 22 what is bold or dim.
  const isWeight = (one: string) => one === "bold" || one === "dim";
  return new Set([...classes].filter((one) => code === "39" ? isWeight(one) : !isWeight(one)));
}

/** Codes of colours take no room. */
function cut(line: string, columns: number): string {
  let room = columns;
  let shown = "";
  // deno-lint-ignore no-control-regex -- that is what colours are made of
  for (const part of line.split(/(\x1b\[\d+m)/)) {
    if (part.startsWith("\x1b")) shown += part;
    else {
      shown += part.length > room && room > 0
        ? `${part.slice(0, room - 1)}…`
        : part.slice(0, Math.max(0, room));
      room -= part.length;
    }
  }
  return shown;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(
    '"',
    "&quot;",
  );
}
