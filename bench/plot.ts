/** Two bars: how good ours and the official SDK are, where 1 is the limit. */
export interface Bar {
  readonly group: string;
  readonly label: string;
  readonly ours: number;
  readonly official: number;
}

const WIDTH = 800;
const LEFT = 260;
const ROW = 34;
const SCALE = WIDTH - LEFT - 60;

/** Draws bars as SVG, with a line where the limit is. */
export function drawRatios(bars: readonly Bar[]): string {
  const rows = bars.map(({ group, label, ours, official }, index) => {
    const y = 40 + index * ROW;
    const isFirst = index === 0 || bars[index - 1]!.group !== group;
    const title = isFirst ? `<text x="8" y="${y + 8}" font-weight="bold">${group}</text>` : "";
    return `${title}<text x="${LEFT - 8}" y="${y + 16}" text-anchor="end">${label}</text>` +
      drawBar(y, ours, "#2a7de1") + drawBar(y + 13, official, "#b9b9b9");
  });
  const height = 60 + bars.length * ROW;
  const limit = LEFT + SCALE;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
<text x="${LEFT}" y="20" fill="#2a7de1">ours</text><text x="${
    LEFT + 50
  }" y="20" fill="#777">official SDK</text>
<text x="${limit}" y="20" text-anchor="middle">limit</text>
${rows.join("\n")}
<line x1="${limit}" y1="26" x2="${limit}" y2="${height - 16}" stroke="black" stroke-dasharray="4 3"/>
</svg>
`;
}

function drawBar(y: number, value: number, color: string): string {
  const width = Math.min(value, 1.08) * SCALE;
  const [x, fill] = width > 28 ? [LEFT + 4, "white"] : [LEFT + width + 4, "#555"];
  return `<rect x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="11" fill="${color}"/>` +
    `<text x="${x.toFixed(1)}" y="${y + 9}" font-size="9" fill="${fill}">${value.toFixed(2)}</text>`;
}
