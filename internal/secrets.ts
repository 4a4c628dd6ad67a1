/**
 * What looks like a secret, and texts without it: for questions of consent, errors, logs and recordings. A value is
 * masked by its own look (`sk-…`, `ghp_…`, a private key, the password in an address) or by the name it has
 * (`--api-key=…`, `"password": "…"`). Each function takes time in proportion to the text.
 */

/** Stands for what is left out. */
export const MASK = "…";

/** Words of which one makes a name that of a secret. */
const SECRET_WORD_REGEXP =
  /(?:^|_)(?:password|passwd|passphrase|passcode|pwd|secrets?|token|auth_tokens|api_?key|apikey|credentials?|authorization|bearer|cookie|jwt)(?:_|$)/;
/** A key of this kind is secret too. */
const SECRET_KEY_REGEXP =
  /(?:^|_)(?:access|private|signing|encryption|master|service|account|admin|license|auth|ssh|client|shared|storage)_key(?:_|$)/;
/** Names that may be those of secrets: it depends on how the value looks. */
const MAYBE_SECRET_REGEXP = /(?:^|_)(?:key|auth|pass|pat|cred|creds|signature|sig|session|dsn)$/;
/** With one of these at its end a name speaks about a secret and is none. */
const NEUTRAL_END_REGEXP =
  /_(?:file|path|dir|url|uri|endpoint|count|limit|type|name|length|size|budget|ttl|expiry|expires|env|var|id|enabled|required|mode|provider|store|helper|manager|policy|timeout|ms|bytes|at|in)$/;
/** Tokens that are no secrets. */
const PUBLIC_TOKEN_REGEXP =
  /(?:^|_)(?:progress|page|continuation|next|cancel|cancellation|pad|eos|bos)_token$/;
/** What all of these names have in common, to be quick with the many that have nothing of it. */
const HINT_REGEXP = /pass|pwd|secret|token|key|cred|auth|bearer|cookie|jwt|pat|sig|session|dsn/i;

/** How strongly a name says that its value is secret. */
export type Secrecy = "secret" | "maybe" | "no";

/** What a name says of its value: of a variable, an option, a header, a member. */
export function secrecyOf(name: string): Secrecy {
  // A name is short; what is longer is a text.
  if (name.length > 100 || !HINT_REGEXP.test(name)) return "no";
  const words = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g)?.join("_").toLowerCase() ?? "";
  if (NEUTRAL_END_REGEXP.test(words) || PUBLIC_TOKEN_REGEXP.test(words)) return "no";
  if (SECRET_WORD_REGEXP.test(words) || SECRET_KEY_REGEXP.test(words)) return "secret";
  return MAYBE_SECRET_REGEXP.test(words) ? "maybe" : "no";
}

/** Which values behind the name of a secret are masked. */
type Maskable = (value: string) => boolean;

/** Anything, as in a log. */
const isAnything: Maskable = () => true;
/** Only what cannot be a piece of a program, so that nothing that runs hides behind the name of a secret. */
const isHarmless: Maskable = (value) => !/[\s;|<>(){}&`\p{Cc}]/u.test(value);

/** A text with every secret replaced by `…`. JSON stays JSON. */
export function maskSecrets(text: string): string {
  return maskLooks(maskNamed(text, isAnything));
}

/** Masks the arguments of a command one after another, also where a secret is the word behind its option. What could be a piece of a program is left as it is. */
export class ArgumentMasker {
  /** What the argument before says of this one. */
  #before: Secrecy = "no";

  /** Gives the next argument as it may be shown. */
  mask(argument: string): string {
    const before = this.#before;
    const isOption = /^--?[A-Za-z][\w-]{0,99}$/.test(argument);
    this.#before = isOption ? secrecyOf(argument) : "no";
    if (isOption) return argument;
    return isWordOf(before, argument) ? MASK : maskLooks(maskNamed(argument, isHarmless));
  }
}

// Engines give up on a long text where a group is repeated, or a class with a least number: here only classes are.

/** Secrets that are known by how they begin. With a digit and a capital letter behind it, it is no word and no package. */
const KNOWN_TOKEN_REGEXP =
  /(?<![\w+/-])(sk-|(?:sk|rk|pk)_(?:live|test)_|gh[opsur]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|npm_|pypi-|hf_|gsk_|xai-|pplx-|tvly-|r8_|sbp_|whsec_|shp(?:at|ca|pa|ss)_|dop_v1_|lin_api_|ntn_|figd_|SG\.|ya29\.|AKIA|ASIA|AIza|eyJ)([\w.-]+)/g;
/** An address in which somebody gives a name and a password. */
const ADDRESS_REGEXP = /(?<![\w+.-])([A-Za-z][\w+.-]{0,40}:\/\/)[^\s/?#@"'`\\:]*:[^\s/?#@"'`\\]*@/g;
const SCHEME_REGEXP = /(?<![\w-])((?:Bearer|Basic) {1,8})([\w+/=.~-]+)/gi;

/** The shortest text that looks like a secret: `a://b:c@`. */
const SHORTEST = 8;

/** Masks what is known by its own look. */
function maskLooks(text: string): string {
  if (text.length < SHORTEST) return text;
  return maskPrivateKeys(text)
    .replace(SCHEME_REGEXP, (whole, scheme: string, value: string) => isRandom(value) ? scheme + MASK : whole)
    .replace(ADDRESS_REGEXP, `$1${MASK}@`)
    .replace(KNOWN_TOKEN_REGEXP, (whole, mark: string, rest: string) => {
      return rest.length >= 12 && /\d/.test(rest) && /[A-Z]/.test(rest) ? mark + MASK : whole;
    });
}

const KEY_BEGIN_REGEXP = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/g;
const KEY_END_REGEXP = /-----END [A-Z ]{0,40}PRIVATE KEY-----/g;

/** Masks private keys, one that is cut off up to the end. */
function maskPrivateKeys(text: string): string {
  let masked = "";
  let done = 0;
  for (const { 0: mark, index } of text.matchAll(KEY_BEGIN_REGEXP)) {
    if (index < done) continue;
    masked += text.slice(done, index) + mark + MASK;
    KEY_END_REGEXP.lastIndex = index + mark.length;
    done = KEY_END_REGEXP.exec(text)?.index ?? text.length;
  }
  return done === 0 ? text : masked + text.slice(done);
}

/**
 * A name, alone or as an option, and what stands between it and its value: a header also says what kind of value it has.
 * It is not looked for inside of a word, which would take the square of its length.
 */
const NAME_REGEXP =
  /(?:(?<![\w.-])|(?<=(?<![\w.-])--?))([A-Za-z_][\w.-]{0,99})(?:\\?["'])?[ \t]{0,8}[:=][ \t]{0,8}(\\"|["']|)(?:(?:Bearer|Basic|Token|Digest) {1,8})?/gi;
/** A value without quotes. What is called is none: the group keeps a letter from being given back to find one after all. */
const BARE_VALUE_REGEXP = /(?=([^\s"'`\\,;&|<>(){}[]+))\1(?![(`[{])/y;
/** What stands for a value, what is masked already, and what no secret looks like. */
const NO_VALUE_REGEXP = /^(?:\$.*|%\w+%|<.*|…|[\d.,+-]*|true|false|null|none|undefined)$/is;

/** Masks what is known by its name. */
function maskNamed(text: string, maskable: Maskable): string {
  if (!HINT_REGEXP.test(text)) return text;
  let masked = "";
  let done = 0;
  NAME_REGEXP.lastIndex = 0;
  for (let match = NAME_REGEXP.exec(text); match !== null; match = NAME_REGEXP.exec(text)) {
    const [whole, name = "", quote = ""] = match;
    const secrecy = secrecyOf(name);
    if (secrecy === "no") continue;
    const begin = match.index + whole.length;
    const value = readValue(text, begin, quote);
    if (!isSecret(secrecy, value) || !maskable(value)) continue;
    masked += text.slice(done, begin) + MASK;
    done = NAME_REGEXP.lastIndex = begin + value.length;
  }
  return done === 0 ? text : masked + text.slice(done);
}

/** Reads a value up to the quote that closes it; if none does, up to a blank, as one without quotes. */
function readValue(text: string, begin: number, quote: string): string {
  const mark = quote.slice(-1);
  // In JSON within JSON a quote has a backslash, and one that stands in the value has three.
  const closing = quote.length - 1;
  for (let at = findQuote(text, begin, mark); at >= 0; at = text.indexOf(mark, at + 1)) {
    const backslashes = mark === "'" ? 0 : countBackslashes(text, begin, at);
    if (backslashes === closing || (closing === 0 && backslashes % 2 === 0)) {
      return text.slice(begin, at - closing);
    }
    if (backslashes < closing) break;
  }
  BARE_VALUE_REGEXP.lastIndex = begin;
  return BARE_VALUE_REGEXP.exec(text)?.[0] ?? "";
}

function findQuote(text: string, begin: number, mark: string): number {
  return mark === "" ? -1 : text.indexOf(mark, begin);
}

/** How many backslashes stand before a place. */
function countBackslashes(text: string, begin: number, at: number): number {
  let count = 0;
  while (at - count > begin && text[at - count - 1] === "\\") count++;
  return count;
}

function isSecret(secrecy: Secrecy, value: string): boolean {
  if (secrecy === "no" || NO_VALUE_REGEXP.test(value)) return false;
  return secrecy === "secret" || isRandom(value);
}

/** Whether a word is the value of the option before it. A path or a file could be what runs, so it is shown. */
function isWordOf(secrecy: Secrecy, word: string): boolean {
  if (!isSecret(secrecy, word) || !isHarmless(word)) return false;
  return isRandom(word) || !/[\\/]|\.\w{1,4}$/.test(word);
}

/** Whether a word looks drawn by lot: long, with digits and letters, and no path. */
function isRandom(value: string): boolean {
  if (value.length < 12 || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  return !/^(?:[.~]{0,2}|[A-Za-z]:)[\\/]|\.[A-Za-z]\w{0,3}$|:\/\//.test(value);
}
