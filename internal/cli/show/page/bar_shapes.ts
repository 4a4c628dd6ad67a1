/** How a request is drawn: by its colour, and by a shape of its own for who does not see colours. */

import type { PageContext } from "./dom.ts";

/** Colours by name, as the style sheet has them. */
export interface Palette {
  readonly [name: string]: string;
}

/** Where a bar stands. */
export interface BarPlace {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Draws bars. */
export interface BarShapes {
  draw(context: PageContext, state: string, place: BarPlace, palette: Palette): void;
}

/** Makes what draws them. */
export function createBarShapes(): BarShapes {
  function box(context: PageContext, { x, y, width, height }: BarPlace): void {
    context.beginPath();
    if (width > 6) context.roundRect(x, y, width, height, 3);
    else context.rect(x, y, width, height);
  }

  function fill(context: PageContext, place: BarPlace, colour: string | undefined, alpha = 1): void {
    context.globalAlpha = alpha;
    context.fillStyle = colour;
    box(context, place);
    context.fill();
    context.globalAlpha = 1;
  }

  /** Lines across, as on a barrier. */
  function hatch(context: PageContext, place: BarPlace, colour: string | undefined): void {
    const { x, y, width, height } = place;
    context.save();
    box(context, place);
    context.clip();
    context.strokeStyle = colour;
    context.lineWidth = 2;
    context.beginPath();
    // A bar may be much wider than the screen; it is cut to what is seen before it comes here.
    for (let at = x - height; at < x + width; at += 6) {
      context.moveTo(at, y + height);
      context.lineTo(at + height, y);
    }
    context.stroke();
    context.restore();
  }

  function outline(context: PageContext, place: BarPlace, colour: string | undefined, dash: number[]): void {
    context.strokeStyle = colour;
    context.lineWidth = 1.25;
    context.setLineDash(dash);
    box(context, {
      x: place.x + 0.5,
      y: place.y + 0.5,
      width: Math.max(1, place.width - 1),
      height: place.height - 1,
    });
    context.stroke();
    context.setLineDash([]);
  }

  function middleLine(
    context: PageContext,
    { x, y, width, height }: BarPlace,
    colour: string | undefined,
  ): void {
    context.strokeStyle = colour;
    context.lineWidth = 1.25;
    context.beginPath();
    context.moveTo(x, y + height / 2);
    context.lineTo(x + width, y + height / 2);
    context.stroke();
  }

  return {
    draw(context, state, place, palette) {
      const colour = palette[state];
      switch (state) {
        case "done":
          return fill(context, place, colour);
        case "failed":
          fill(context, place, colour, 0.35);
          // A solid end: it came to an end, and not to a good one.
          return fill(
            context,
            { ...place, x: place.x + Math.max(0, place.width - 4), width: Math.min(4, place.width) },
            colour,
          );
        case "error":
          fill(context, place, colour, 0.25);
          hatch(context, place, colour);
          return outline(context, place, colour, []);
        case "cancelled":
          outline(context, place, colour, []);
          return middleLine(context, place, colour);
        case "lost":
          fill(context, place, colour, 0.14);
          return outline(context, place, colour, [3, 3]);
        case "open":
          return outline(context, place, colour, [2, 3]);
        default:
          return middleLine(context, place, colour);
      }
    },
  };
}
