/** Text and bytes of a server, fit to be shown: no control characters, no secrets, not too long. */

import { maskSecrets } from "../../secrets.ts";
import { spellUnsafe } from "../shown_text.ts";
import { decodeStrict } from "./raw_line.ts";

const MOST_SHOWN = 160;

/** Text or bytes for people: escaped, masked and cut. */
export function show(what: string | Uint8Array | undefined, most: number = MOST_SHOWN): string {
  if (what === undefined) return "";
  const text = typeof what === "string" ? what : decodeTolerant(what);
  // A secret is masked before the cut, or half of it would stand there.
  const head = escapeControls(maskSecrets(text.slice(0, most * 4)));
  return head.length > most ? `${head.slice(0, most)}…` : head;
}

/** On one line: LF and CR as arrows. */
function escapeControls(text: string): string {
  return spellUnsafe(text.replaceAll("\n", "⏎").replaceAll("\r", "␍").replaceAll("\t", "\\t"));
}

/** Bytes as text, with `\xNN` for what is no UTF-8. */
export function decodeTolerant(bytes: Uint8Array): string {
  const head = bytes.subarray(0, 4_096);
  // A cut may fall into a character, so the last few bytes may be wrong.
  for (let cut = 0; cut < 4 && cut <= head.length; cut++) {
    const text = decodeStrict(cut === 0 ? head : head.subarray(0, -cut));
    if (text !== undefined) return text;
    if (head.length < 4_096) break;
  }
  let shown = "";
  for (const byte of bytes.subarray(0, 640)) {
    shown += byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`;
  }
  return shown;
}

/** Bytes as base64, cut. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes.subarray(0, 240)));
}

/** Milliseconds for people: `12 ms`, `5.0 s`. */
export function showMs(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** Bytes for people: `71 MB`. */
export function showBytes(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${Math.round(bytes / 1_000_000)} MB`;
}

/** A list for people, cut. */
export function listed(names: readonly string[], most = 8): string {
  const shown = names.slice(0, most).map((name) => show(name, 60));
  return names.length > most ? `${shown.join(", ")} and ${names.length - most} more` : shown.join(", ");
}
