/** Time to places on the screen: what part of the recording is seen, and where the marks of the axis stand. */

/** A part of the time, from here to there. */
export interface TimeScale {
  /** The part that is seen. */
  readonly from: number;
  readonly to: number;
  /** Where a moment stands. */
  toX(t: number): number;
  /** Which moment stands there. */
  toTime(x: number): number;
  /** Tells the room that there is. */
  resize(left: number, width: number): void;
  /** Shows a part. */
  show(from: number, to: number): void;
  /** Makes it larger (a factor over 1) around a place. */
  zoom(factor: number, x: number): void;
  /** Moves it by so many pixels. */
  pan(dx: number): void;
  /** Shows a part if it is not seen. */
  reveal(from: number, to: number): void;
  /** Marks of the axis. */
  ticks(): ReadonlyArray<{ readonly t: number; readonly text: string }>;
}

/** Makes a scale over the whole time. */
export function createTimeScale(durationMs: number): TimeScale {
  /** Some room behind the end, so that the last bar can be seen whole. */
  const end = Math.max(durationMs, 0.001) * 1.02;
  const shortest = Math.min(end, 0.01);
  let from = 0;
  let to = end;
  let left = 0;
  let width = 1;

  function show(newFrom: number, newTo: number): void {
    const length = Math.min(end, Math.max(shortest, newTo - newFrom));
    from = Math.max(0, Math.min(newFrom, end - length));
    to = from + length;
  }

  function toTime(x: number): number {
    return from + ((x - left) / width) * (to - from);
  }

  function formatTick(t: number, step: number): string {
    if (step >= 1_000) return `${(t / 1_000).toFixed(0)} s`;
    if (t >= 1_000) {
      return `${(t / 1_000).toFixed(step >= 100 ? 1 : step >= 10 ? 2 : 3)} s`;
    }
    return `${t.toFixed(step >= 1 ? 0 : step >= 0.1 ? 1 : 2)} ms`;
  }

  return {
    get from() {
      return from;
    },
    get to() {
      return to;
    },
    toX: (t) => left + ((t - from) / (to - from)) * width,
    toTime,
    resize(newLeft, newWidth) {
      left = newLeft;
      width = Math.max(1, newWidth);
    },
    show,
    zoom(factor, x) {
      const at = toTime(x);
      show(at - (at - from) / factor, at + (to - at) / factor);
    },
    pan(dx) {
      const shift = (dx / width) * (to - from);
      show(from + shift, to + shift);
    },
    reveal(first, last) {
      if (last >= from && first <= to && last - first <= to - from) return;
      const length = Math.max(to - from, (last - first) * 1.4);
      const middle = (first + last) / 2;
      show(middle - length / 2, middle + length / 2);
    },
    ticks() {
      const wanted = (to - from) / Math.max(2, Math.floor(width / 110));
      const power = 10 ** Math.floor(Math.log10(wanted));
      const step = power * ([1, 2, 5, 10].find((factor) => power * factor >= wanted) ?? 10);
      const marks: { t: number; text: string }[] = [];
      for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
        marks.push({ t, text: formatTick(t, step) });
      }
      return marks;
    },
  };
}
