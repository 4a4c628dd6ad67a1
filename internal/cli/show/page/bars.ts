/** The time axis: lanes for stderr and for what happens to the process, and below them a bar for each request. */

import type { BarShapes, Palette } from "./bar_shapes.ts";
import type { PageBar, PageRow } from "./data.ts";
import type { PageCanvas, PageElement, PageWindow } from "./dom.ts";
import type { TimeScale } from "./time_scale.ts";
import type { PageWords } from "./words.ts";

/** What the axis is made of. */
export interface BarsParts {
  readonly window: PageWindow;
  readonly words: PageWords;
  readonly shapes: BarShapes;
  readonly scale: TimeScale;
  /** The element that scrolls, with a canvas that stays where it is and a sheet as high as all bars. */
  readonly scroller: PageElement;
  readonly canvas: PageCanvas;
  readonly sheet: PageElement;
  readonly palette: () => Palette;
  readonly onSelect: (row: number) => void;
  /** The row of what is under the cursor, and what is said of it there. */
  readonly onHover: (row: number | undefined, text: string, x: number, y: number) => void;
  /** What is seen of the time has changed. */
  readonly onMove: () => void;
}

/** The axis. */
export interface PageBars {
  setBars(bars: readonly PageBar[], rows: readonly PageRow[]): void;
  /** Marks a request, and shows it if it is not seen. */
  select(row: PageRow | undefined, isScrolled: boolean): void;
  draw(): void;
}

/** Makes the axis. */
export function createBars(parts: BarsParts): PageBars {
  const { window, words, shapes, scale, scroller, canvas, sheet } = parts;
  const context = canvas.getContext("2d");
  const gutter = 200;
  const rowHeight = 20;
  const axisHeight = 24;
  const laneHeight = 20;
  const headHeight = axisHeight + 2 * laneHeight + 6;
  let bars: readonly PageBar[] = [];
  let dots: readonly PageRow[][] = [[], []];
  let selected: PageRow | undefined;
  let isAsked = false;
  let drag: { x: number; moved: boolean } | undefined;

  function draw(): void {
    if (isAsked) return;
    isAsked = true;
    window.requestAnimationFrame(drawNow);
  }

  function drawNow(): void {
    isAsked = false;
    const width = scroller.clientWidth;
    const height = scroller.clientHeight;
    const ratio = window.devicePixelRatio;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    scale.resize(gutter, width - gutter - 12);
    const palette = parts.palette();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    drawGrid(width, height, palette);
    drawBars(width, height, palette);
    drawHead(width, height, palette);
  }

  function drawGrid(width: number, height: number, palette: Palette): void {
    context.lineWidth = 1;
    context.strokeStyle = palette.line;
    context.globalAlpha = 0.6;
    context.beginPath();
    for (const { t } of scale.ticks()) {
      const x = Math.round(scale.toX(t)) + 0.5;
      if (x < gutter || x > width) continue;
      context.moveTo(x, axisHeight - 4);
      context.lineTo(x, height);
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  function drawBars(width: number, height: number, palette: Palette): void {
    const top = scroller.scrollTop;
    const first = Math.max(0, Math.floor(top / rowHeight));
    const last = Math.min(bars.length, Math.ceil((top + height - headHeight) / rowHeight));
    context.font = "12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace";
    context.textBaseline = "middle";
    for (let place = first; place < last; place++) {
      const bar = bars[place]!;
      const y = headHeight + place * rowHeight - top;
      const isSelected = selected?.bar === bar;
      if (isSelected) {
        context.fillStyle = palette.selected;
        context.fillRect(0, y, width, rowHeight);
      }
      drawName(bar, y + rowHeight / 2, palette);
      context.fillStyle = palette[bar.state];
      context.textAlign = "center";
      context.fillText(words.states[bar.state]![1], gutter - 14, y + rowHeight / 2);
      // What stands outside of what is seen is not drawn, however long it is.
      const x = Math.max(gutter - 4, Math.min(width, scale.toX(bar.startedAt)));
      const end = Math.max(gutter - 4, Math.min(width + 4, scale.toX(bar.endedAt)));
      if (scale.toX(bar.startedAt) > width || scale.toX(bar.endedAt) < gutter - 4) continue;
      context.save();
      context.beginPath();
      context.rect(gutter - 1, headHeight, width, height);
      context.clip();
      shapes.draw(
        context,
        bar.state,
        { x, y: y + 4, width: Math.max(2, end - x), height: rowHeight - 8 },
        palette,
      );
      drawTook(bar, end, y, width, palette);
      context.restore();
    }
  }

  function drawTook(bar: PageBar, end: number, y: number, width: number, palette: Palette): void {
    if (end > width - 70) return;
    const isEnded = bar.state !== "lost" && bar.state !== "open" && bar.state !== "stream";
    context.textAlign = "left";
    context.fillStyle = palette.muted;
    context.fillText(
      isEnded ? words.formatMs(bar.endedAt - bar.startedAt) : words.states[bar.state]![0],
      end + 6,
      y + rowHeight / 2,
    );
  }

  function drawHead(width: number, height: number, palette: Palette): void {
    context.fillStyle = palette.panel;
    context.fillRect(0, 0, width, headHeight);
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    context.lineWidth = 1;
    for (const { t, text } of scale.ticks()) {
      const x = scale.toX(t);
      context.fillStyle = palette.muted;
      if (x > gutter + 16 && x < width - 24) context.fillText(text, x, axisHeight / 2 - 1);
    }
    for (const [place, name] of ["process", "stderr"].entries()) {
      const y = axisHeight + place * laneHeight + laneHeight / 2;
      context.textAlign = "left";
      context.fillStyle = palette.muted;
      context.fillText(name, 12, y);
      drawDots(dots[place]!, name, y, width, palette);
    }
    context.strokeStyle = palette.line;
    context.beginPath();
    context.moveTo(0, headHeight - 0.5);
    context.lineTo(width, headHeight - 0.5);
    context.moveTo(gutter - 0.5, axisHeight);
    context.lineTo(gutter - 0.5, height);
    context.stroke();
  }

  /** One mark a pixel at most: thousands of lines of stderr are a band. */
  function drawDots(
    rows: readonly PageRow[],
    name: string,
    y: number,
    width: number,
    palette: Palette,
  ): void {
    let lastX = -10;
    for (const row of rows) {
      if (row.t > scale.to) break;
      const x = scale.toX(row.t);
      if (x < gutter || (x - lastX < 1 && row !== selected)) continue;
      lastX = x;
      context.fillStyle = row === selected ? palette.accent : palette[name];
      context.beginPath();
      if (name === "process") {
        context.moveTo(x, y - 6);
        context.lineTo(x + 6, y);
        context.lineTo(x, y + 6);
        context.lineTo(x - 6, y);
        context.closePath();
      } else {
        context.rect(Math.min(x, width) - 1, y - 5, row === selected ? 4 : 2, 10);
      }
      context.fill();
    }
  }

  /** What is called stands before how, since that is what one looks for. */
  function drawName({ method, target }: PageBar, y: number, palette: Palette): void {
    context.textAlign = "left";
    context.fillStyle = palette.text;
    const room = gutter - 40;
    const name = fit(target === "" ? method : target, room);
    context.fillText(name, 12, y);
    const used = context.measureText(name).width + 10;
    if (target === "" || room - used < 40) return;
    context.fillStyle = palette.muted;
    context.fillText(fit(method, room - used), 12 + used, y);
  }

  function fit(text: string, width: number): string {
    // Letters of this font are all as wide as one.
    const most = Math.max(4, Math.floor(width / context.measureText("m").width));
    return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
  }

  /** The first request for which it holds; they stand in order of their beginnings. */
  function findFirst(holds: (bar: PageBar) => boolean): number {
    let low = 0;
    let high = bars.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(bars[middle]!)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  function placeOf({ index }: PageBar): number {
    return findFirst((bar) => bar.index >= index);
  }

  /** What was begun last before a moment. */
  function placeOfTime(t: number): number {
    return Math.max(0, findFirst((bar) => bar.startedAt > t) - 1);
  }

  function scrollTo(place: number): void {
    const top = place * rowHeight;
    const room = scroller.clientHeight - headHeight - rowHeight;
    if (top >= scroller.scrollTop && top <= scroller.scrollTop + room) return;
    scroller.scrollTop = Math.max(0, top - room / 2);
  }

  /** What stands at a place of the canvas. */
  function hit(clientX: number, clientY: number): { row: number; text: string } | undefined {
    const { left, top } = canvas.getBoundingClientRect();
    const x = clientX - left;
    const y = clientY - top;
    if (y >= headHeight) {
      const bar = bars[Math.floor((y - headHeight + scroller.scrollTop) / rowHeight)];
      if (bar === undefined) return undefined;
      const took = words.formatMs(bar.endedAt - bar.startedAt);
      const outcome = `${words.states[bar.state]![1]} ${words.states[bar.state]![0]} ${took}`;
      return {
        row: bar.rows[0]!,
        text: [`${bar.method} ${bar.target}`, outcome, bar.problem].filter(Boolean).join("\n"),
      };
    }
    const lane = Math.floor((y - axisHeight) / laneHeight);
    const near = dots[lane]
      ?.filter((row) => Math.abs(scale.toX(row.t) - x) < 6)
      .sort((one, other) => Math.abs(scale.toX(one.t) - x) - Math.abs(scale.toX(other.t) - x))[0];
    return near === undefined ? undefined : { row: near.index, text: near.label.slice(0, 300) };
  }

  scroller.addEventListener("scroll", draw, { passive: true });
  scroller.addEventListener(
    "wheel",
    (event) => {
      const isZoom = event.ctrlKey || event.metaKey || event.altKey;
      if (!isZoom && Math.abs(event.deltaX) <= Math.abs(event.deltaY) && !event.shiftKey) return;
      event.preventDefault();
      if (isZoom) {
        scale.zoom(1.0015 ** -event.deltaY, event.clientX - canvas.getBoundingClientRect().left);
      } else {
        scale.pan(event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX);
      }
      parts.onMove();
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", ({ clientX, pointerId }) => {
    drag = { x: clientX, moved: false };
    canvas.setPointerCapture(pointerId);
  });
  canvas.addEventListener("pointermove", ({ clientX, clientY }) => {
    if (drag === undefined) {
      const found = hit(clientX, clientY);
      parts.onHover(found?.row, found?.text ?? "", clientX, clientY);
      return;
    }
    if (!drag.moved && Math.abs(clientX - drag.x) < 4) return;
    scale.pan(drag.x - clientX);
    drag = { x: clientX, moved: true };
    parts.onMove();
  });
  canvas.addEventListener("pointerup", ({ clientX, clientY }) => {
    const wasClick = drag?.moved === false;
    drag = undefined;
    const found = wasClick ? hit(clientX, clientY) : undefined;
    if (found !== undefined) parts.onSelect(found.row);
  });
  canvas.addEventListener("pointerleave", () => parts.onHover(undefined, "", 0, 0));

  return {
    setBars(newBars, rows) {
      bars = newBars;
      dots = [rows.filter(({ lane }) => lane === "process"), rows.filter(({ lane }) => lane === "stderr")];
      sheet.style.height = `${headHeight + bars.length * rowHeight + 8}px`;
      draw();
    },
    select(row, isScrolled) {
      selected = row;
      if (row !== undefined && isScrolled) {
        const { bar } = row;
        scrollTo(bar === undefined ? placeOfTime(row.t) : placeOf(bar));
        scale.reveal(bar?.startedAt ?? row.t, bar?.endedAt ?? row.t);
      }
      draw();
    },
    draw,
  };
}
