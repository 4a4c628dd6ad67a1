/** Colours, where they are wanted. */

/** What colours a text. */
export interface Paint {
  readonly isColoured: boolean;
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  blue(text: string): string;
  magenta(text: string): string;
  cyan(text: string): string;
}

/** Whether there is colour: `FORCE_COLOR` and `NO_COLOR` decide, and else whether a terminal shows it. */
export function wantsColour(isTerminal: boolean, env: (name: string) => string | undefined): boolean {
  const forced = env("FORCE_COLOR");
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if ((env("NO_COLOR") ?? "") !== "") return false;
  return isTerminal && env("TERM") !== "dumb";
}

/** Makes what colours, or what leaves text as it is. */
export function createPaint(isColoured: boolean): Paint {
  const style = (on: number, off: number): (text: string) => string =>
    isColoured ? (text) => `\x1b[${on}m${text}\x1b[${off}m` : (text) => text;
  return {
    isColoured,
    bold: style(1, 22),
    dim: style(2, 22),
    red: style(31, 39),
    green: style(32, 39),
    yellow: style(33, 39),
    blue: style(34, 39),
    magenta: style(35, 39),
    cyan: style(36, 39),
  };
}
