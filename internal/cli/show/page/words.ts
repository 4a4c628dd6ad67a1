/** Words and signs of the page. */

/** How things are called and marked. */
export interface PageWords {
  /** What a state is called, and its sign: it is told apart also without colour. */
  readonly states: { readonly [state: string]: readonly [word: string, sign: string] };
  readonly lanes: { readonly [lane: string]: readonly [word: string, sign: string] };
  formatMs(ms: number): string;
  formatTime(ms: number): string;
  formatBytes(count: number): string;
}

/** Makes them. */
export function createWords(): PageWords {
  return {
    states: {
      done: ["done", "✓"],
      failed: ["failed", "!"],
      error: ["error", "✗"],
      cancelled: ["cancelled", "⊘"],
      lost: ["unanswered", "?"],
      open: ["open", "…"],
      stream: ["stream", "∞"],
    },
    lanes: {
      client: ["client", "→"],
      server: ["server", "←"],
      stderr: ["stderr", "│"],
      process: ["process", "●"],
    },
    formatMs(ms) {
      if (ms >= 60_000) return `${(ms / 60_000).toFixed(1)} min`;
      if (ms >= 1_000) return `${(ms / 1_000).toFixed(ms >= 10_000 ? 1 : 2)} s`;
      return `${ms.toFixed(ms >= 100 ? 0 : ms >= 10 ? 1 : 2)} ms`;
    },
    formatTime: (ms) => (ms / 1_000).toFixed(3),
    formatBytes(count) {
      if (count >= 1_048_576) return `${(count / 1_048_576).toFixed(1)} MiB`;
      return count >= 1_024 ? `${(count / 1_024).toFixed(1)} KiB` : `${count} B`;
    },
  };
}
