import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentMasker, maskSecrets, type Secrecy, secrecyOf } from "../internal/secrets.ts";
import { assertLinear } from "./linear_time.ts";

const names: readonly [secrecy: Secrecy, names: string][] = [
  [
    "secret",
    "password PASSWORD DB_PASSWORD dbPassword --password pwd token TOKEN GITHUB_TOKEN accessToken x-api-key --api-key apiKey " +
    "API_KEY OPENAI_API_KEY APIKEY client_secret SECRET aws-secret-access-key privateKey Authorization cookie TOKEN_2 " +
    "DENO_AUTH_TOKENS credentials",
  ],
  ["maybe", "key KEY --key auth pass PAT signature session SENTRY_DSN"],
  [
    "no",
    "name keyboard monkey keys author authority max_tokens maxTokens tokenizer token_count tokenLimit TOKEN_URL tokenType " +
    "progressToken page_token PASSWORD_FILE SECRET_PATH AWS_ACCESS_KEY_ID passthrough compass path config port",
  ],
];
for (const [secrecy, list] of names) {
  for (const name of list.split(" ")) {
    test(`secrecyOf() says ${secrecy} for ${name} (XD5, L6)`, () => assert.equal(secrecyOf(name), secrecy));
  }
}

const GITHUB = "ghp_Ab0123456789Ab0123456789Ab0123456789";
const RANDOM = "b3f1c2d4e5a60718";

const texts: readonly [text: string, masked: string][] = [
  ["no secret here", "no secret here"],
  ["token=hush", "token=…"],
  ["TOKEN: hush, then", "TOKEN: …, then"],
  ["password='a b' x", "password='…' x"],
  ['{"api_key":"hush \\" q","n":1}', '{"api_key":"…","n":1}'],
  ['{"text":"{\\"password\\": \\"hush\\", \\"a\\": 1}"}', '{"text":"{\\"password\\": \\"…\\", \\"a\\": 1}"}'],
  ['{"_meta":{"progressToken":"abc"},"token":5}', '{"_meta":{"progressToken":"abc"},"token":5}'],
  ['{"token":null,"secret":true,"password":""}', '{"token":null,"secret":true,"password":""}'],
  ["https://x.test/?token=hush&page=2", "https://x.test/?token=…&page=2"],
  ["postgres://me:hush@x.test:1/db", "postgres://…@x.test:1/db"],
  ["git+ssh://git@x.test/a", "git+ssh://git@x.test/a"],
  ["Authorization: Bearer hush", "Authorization: Bearer …"],
  ['{"Authorization":"Basic aHVzaDpodXNo"}', '{"Authorization":"Basic …"}'],
  [`"Bearer ${RANDOM}"`, '"Bearer …"'],
  ["a bearer of good tidings", "a bearer of good tidings"],
  [`see ${GITHUB}.`, "see ghp_…"],
  [`https://x.test/${GITHUB}`, `https://x.test/${GITHUB}`],
  ["npx sk-learn-datasets-for-everyone-2024", "npx sk-learn-datasets-for-everyone-2024"],
  ["sk-proj-Abc123456789012345", "sk-…"],
  [
    "-----BEGIN RSA PRIVATE KEY-----\nhush\nhush\n-----END RSA PRIVATE KEY-----\nx",
    "-----BEGIN RSA PRIVATE KEY-----…-----END RSA PRIVATE KEY-----\nx",
  ],
  ["-----BEGIN PRIVATE KEY-----\\nhush", "-----BEGIN PRIVATE KEY-----…"],
  [`key=${RANDOM}`, "key=…"],
  ["key=value", "key=value"],
  ["key=/home/me/keys/id_rsa1", "key=/home/me/keys/id_rsa1"],
  [
    "token=${TOKEN} password=$PASS secret=%S% api_key=<yours> pwd=…",
    "token=${TOKEN} password=$PASS secret=%S% api_key=<yours> pwd=…",
  ],
  ["a:b:token:hush", "a:b:token:…"],
  ["password=hush token=hush", "password=… token=…"],
  ['token="', 'token="'],
  ['{"token":"hush', '{"token":"…'],
  ['"{\\"token\\":\\"a \\\\\\"b\\\\\\" c\\",\\"n\\":1}"', '"{\\"token\\":\\"…\\",\\"n\\":1}"'],
];
for (const [text, masked] of texts) {
  test(`maskSecrets() makes ${JSON.stringify(masked)} of ${JSON.stringify(text)} (XD5, L6)`, () => {
    assert.equal(maskSecrets(text), masked);
    assert.equal(maskSecrets(masked), masked);
  });
}

const args: readonly [args: readonly string[], masked: readonly string[]][] = [
  [["--api-key=sk-1", "API_KEY=hush", "/token:hush"], ["--api-key=…", "API_KEY=…", "/token:…"]],
  [["--token", "hush", "hush"], ["--token", "…", "hush"]],
  [["--password", "--verbose"], ["--password", "--verbose"]],
  [["--header", "Authorization: Bearer hush"], ["--header", "Authorization: Bearer …"]],
  [["--key", "value", "--key", RANDOM], ["--key", "value", "--key", "…"]],
  [["--token", "/tmp/x.js", "--token", "x.js"], ["--token", "/tmp/x.js", "--token", "x.js"]],
  [["--token", "a b", "--token", "$(x)"], ["--token", "a b", "--token", "$(x)"]],
  [["-c", 'password="$(evil)"'], ["-c", 'password="$(evil)"']],
  [["-c", 'token="x; evil"'], ["-c", 'token="x; evil"']],
  [["-c", "token=`evil`"], ["-c", "token=`evil`"]],
  [["-c", "token=x&&evil"], ["-c", "token=…&&evil"]],
  [["-c", 'token=require("evil")'], ["-c", 'token=require("evil")']],
  [["--password=a b"], ["--password=… b"]],
];
for (const [given, masked] of args) {
  test(`ArgumentMasker.mask() makes ${JSON.stringify(masked)} of ${JSON.stringify(given)} (XD5)`, () => {
    const masker = new ArgumentMasker();
    assert.deepEqual([...given].map((argument) => masker.mask(argument)), masked);
  });
}

// Engines give up on long texts in some regular expressions, with an error or by finding nothing.
const long: readonly (readonly [text: string, masked: string])[] = [
  ['token="x"', 'token="…"'],
  ['token="x', 'token="…'],
  ['token="\\n"', 'token="…"'],
  ['token=\\"x\\"', 'token=\\"…\\"'],
  ["token='x'", "token='…'"],
  ["token=x", "token=…"],
  ["-----BEGIN PRIVATE KEY-----x", "-----BEGIN PRIVATE KEY-----…"],
  ["sk-A1x", "sk-…"],
  ["Bearer 1x", "Bearer …"],
  ["a://u:x@", "a://…@"],
];
test("maskSecrets() masks secrets that are as long as a line may be (L6)", () => {
  for (const [text, masked] of long) {
    const letter = text.includes("\\n") ? "\\n" : "x";
    const given = text.replace(letter, letter.repeat(16_000_000));
    assert.equal(maskSecrets(given).slice(0, 100), masked, text);
  }
});

const shapes: readonly string[] = [
  "a",
  "a.",
  "a:",
  "-a",
  "key",
  "token ",
  "token=",
  'token="',
  'token=\\"',
  "token='",
  "token=\"'",
  'token="b=\'c=\\"',
  "token=\\",
  "key=1a",
  "a://b:",
  "a://b@",
  "sk-",
  "sk-a",
  "eyJA1",
  "Bearer ",
  "-----BEGIN PRIVATE KEY-----",
  "-----",
];
for (const shape of shapes) {
  test(`maskSecrets() takes time that grows with the size, for many ${JSON.stringify(shape)} (H5, L6)`, async () => {
    await assertLinear((size) => maskSecrets(`token ${shape.repeat(size / shape.length)}`), 100_000);
  });
}
