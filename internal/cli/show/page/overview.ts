/** The whole recording in a strip: how much passed when, where problems are, and which part is seen below. */

import type { Palette } from "./bar_shapes.ts";
import type { PageRow } from "./data.ts";
import type { PageCanvas, PageWindow } from "./dom.ts";
import type { TimeScale } from "./time_scale.ts";

/** What the strip is made of. */
export interface OverviewParts {
  readonly window: PageWindow;
  readonly canvas: PageCanvas;
  readonly scale: TimeScale;
  readonly durationMs: number;
  readonly palette: () => Palette;
  readonly isProblem: (row: PageRow) => boolean;
  readonly onMove: () => void;
}

/** The strip. */
export interface PageOverview {
  setRows(rows: readonly PageRow[]): void;
  draw(): void;
}

/** Makes the strip. */
export function createOverview(parts: OverviewParts): PageOverview {
  const { window, canvas, scale, durationMs } = parts;
  const context = canvas.getContext("2d");
  const margin = 12;
  let rows: readonly PageRow[] = [];
  /** How many rows, and how many problems, stand in each step of two pixels. */
  let counts: number[] = [];
  let problems: boolean[] = [];
  let isAsked = false;
  let grip: number | undefined;

  function toX(t: number): number {
    return margin + (t / Math.max(durationMs, 0.001)) * (canvas.clientWidth - 2 * margin);
  }

  function toTime(clientX: number): number {
    const x = clientX - canvas.getBoundingClientRect().left;
    return ((x - margin) / (canvas.clientWidth - 2 * margin)) * durationMs;
  }

  function count(): void {
    const steps = Math.max(1, Math.ceil(canvas.clientWidth / 2));
    counts = new Array<number>(steps).fill(0);
    problems = new Array<boolean>(steps).fill(false);
    for (const row of rows) {
      const step = Math.min(steps - 1, Math.max(0, Math.floor(toX(row.t) / 2)));
      counts[step]!++;
      if (parts.isProblem(row)) problems[step] = true;
    }
  }

  function draw(): void {
    if (isAsked) return;
    isAsked = true;
    window.requestAnimationFrame(drawNow);
  }

  function drawNow(): void {
    isAsked = false;
    const { clientWidth: width, clientHeight: height } = canvas;
    const ratio = window.devicePixelRatio;
    if (canvas.width !== Math.round(width * ratio) || counts.length !== Math.ceil(width / 2)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      count();
    }
    const palette = parts.palette();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const most = Math.max(1, ...counts);
    for (let step = 0; step < counts.length; step++) {
      if (counts[step] === 0) continue;
      // A square root, so that one message beside ten thousand is still seen.
      const tall = Math.max(2, Math.sqrt(counts[step]! / most) * (height - 12));
      context.fillStyle = palette.accent;
      context.globalAlpha = 0.55;
      context.fillRect(step * 2, height - 4 - tall, 1.5, tall);
      context.globalAlpha = 1;
      if (!problems[step]) continue;
      context.fillStyle = palette.error;
      context.beginPath();
      context.arc(step * 2 + 1, 4, 2, 0, 7);
      context.fill();
    }
    drawWindow(width, height, palette);
  }

  /** What is not seen below is veiled. */
  function drawWindow(width: number, height: number, palette: Palette): void {
    const left = Math.max(0, toX(scale.from));
    const right = Math.min(width, toX(scale.to));
    context.fillStyle = palette.page;
    context.globalAlpha = 0.65;
    context.fillRect(0, 0, left, height);
    context.fillRect(right, 0, width - right, height);
    context.globalAlpha = 1;
    context.strokeStyle = palette.accent;
    context.lineWidth = 1.5;
    context.strokeRect(left + 0.75, 0.75, Math.max(2, right - left - 1.5), height - 1.5);
  }

  canvas.addEventListener("pointerdown", ({ clientX, pointerId }) => {
    canvas.setPointerCapture(pointerId);
    grip = toTime(clientX);
  });
  canvas.addEventListener("pointermove", ({ clientX }) => {
    if (grip === undefined) return;
    const at = toTime(clientX);
    if (Math.abs(toX(at) - toX(grip)) < 4) return;
    scale.show(Math.min(grip, at), Math.max(grip, at));
    parts.onMove();
  });
  canvas.addEventListener("pointerup", ({ clientX }) => {
    const at = toTime(clientX);
    // A click moves what is seen there; the drag has shown its part already.
    if (grip !== undefined && Math.abs(toX(at) - toX(grip)) < 4) {
      const length = scale.to - scale.from;
      scale.show(at - length / 2, at + length / 2);
      parts.onMove();
    }
    grip = undefined;
  });
  canvas.addEventListener("dblclick", () => {
    scale.show(0, Infinity);
    parts.onMove();
  });

  return {
    setRows(newRows) {
      rows = newRows;
      count();
      draw();
    },
    draw,
  };
}
