/**
 * Secrets in messages, masked so that the rest of the line stays as it came. Most messages hold nothing that could be one,
 * and that is found out first, since all of this stands beside a session that must not be slowed down.
 */

import { maskSecrets, type Secrecy, secrecyOf } from "../../secrets.ts";
import { parseJson } from "../json_text.ts";

/** Names of members come again and again. */
const knownNames = new Map<string, Secrecy>();
const MOST_KNOWN_NAMES = 10_000;

/** A value that nests deeper than this is taken for one that may hold anything. */
const MAX_DEPTH = 64;

const LITERAL_REGEXP = /"(?:[^"\\]|\\.)*"/g;

/** Whether a value may hold a secret. It errs on the side of yes. */
export function mayHoldSecret(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return mayBeSecret(value);
  if (typeof value !== "object" || value === null) return false;
  if (depth > MAX_DEPTH) return true;
  if (Array.isArray(value)) {
    return value.some((item) => mayHoldSecret(item, depth + 1));
  }
  for (const name in value) {
    const member = (value as { [name: string]: unknown })[name];
    if (
      typeof member === "string"
        ? isSecretName(name) || mayBeSecret(member)
        : mayHoldSecret(member, depth + 1)
    ) {
      return true;
    }
    // A name is text as well.
    if (name.length > 100 && mayBeSecret(name)) return true;
  }
  return false;
}

/** Shorter than this there is no secret that goes by its own look, and no name with a value. */
const LEAST_LENGTH = 5;
const LEAST_LOOK_LENGTH = 12;

/** Every secret needs a sign: what stands between a name and its value, a digit among letters, or the head of a key. */
function mayBeSecret(text: string): boolean {
  if (text.length < LEAST_LENGTH) return false;
  if (text.length < LEAST_LOOK_LENGTH) return /[:=]/.test(text);
  return /[:=\d]/.test(text) || text.includes("-----BEGIN");
}

function isSecretName(name: string): boolean {
  let secrecy = knownNames.get(name);
  if (secrecy === undefined) {
    secrecy = secrecyOf(name);
    // A server that makes up names without end must not fill the memory.
    if (knownNames.size < MOST_KNOWN_NAMES) knownNames.set(name, secrecy);
  }
  return secrecy !== "no";
}

/**
 * Masks the secrets in the text of a JSON value. It stays JSON: strings are masked for what they hold, whatever is escaped in
 * them, and values for the name they have.
 */
export function maskMessage(json: string): string {
  if (parseJson(json) === undefined) return maskSecrets(json);
  const inside = json.replaceAll(LITERAL_REGEXP, (literal) => {
    if (!mayBeSecret(literal.slice(1, -1))) return literal;
    const text: string = JSON.parse(literal);
    const masked = maskSecrets(text);
    return masked === text ? literal : JSON.stringify(masked);
  });
  return maskSecrets(inside);
}

/** Masks the secrets in a text, such as a line of stderr. */
export function maskText(text: string): string {
  return mayBeSecret(text) ? maskSecrets(text) : text;
}
