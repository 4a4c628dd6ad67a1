import type { Mutation } from "../mutation.ts";

export const ROWS: readonly Mutation[] = [
  {
    id: "XB5-1",
    file: "internal/framing/id_scanner.ts",
    find: `      else return this.#beginSearch(at);
      return at + 1;`,
    replace: `      else {
        this.#position = "done";
        return at;
      }
      return at + 1;`,
    tests: ["id_scanner_test.ts"],
    breaks: "a frame behind printed text without a line feed has no id, and its request waits out its time",
  },
  {
    id: "XB5-2",
    file: "internal/framing/id_scanner.ts",
    find: "return this.#isGlued && !this.#hasVersion ? this.#first : this.#current();",
    replace: "return this.#current();",
    tests: ["id_scanner_test.ts"],
    breaks: "the id of any object that was printed fails a request that it has nothing to do with",
  },
  {
    id: "XB5-3",
    file: "internal/framing/id_scanner.ts",
    find: 'if (this.#hasVersion || !(matches || this.#isGlued)) this.#position = "done";',
    replace: 'if (true) this.#position = "done";',
    tests: ["id_scanner_test.ts"],
    breaks: "a frame behind a printed object has no id",
  },
  {
    id: "XB5-4",
    file: "internal/framing/id_scanner.ts",
    find: 'else if (byte === OPEN_BRACKET) this.#position = "bracket";',
    replace: "else if (byte === OPEN_BRACKET) this.#beginSearch(at);",
    tests: ["id_scanner_test.ts"],
    breaks: "the id of a member counts as the id of a batch",
  },
  {
    id: "XB6-1",
    file: "internal/framing/line_fault.ts",
    find: "    else if (code !== 0) return at;",
    replace: "    else return at;",
    tests: ["line_splitter_test.ts", "message_decoder_test.ts"],
    breaks: "the first frame behind UTF-16 text is lost",
  },
  {
    id: "F4-1",
    file: "internal/framing/message_rules.ts",
    find: 'return typeof id === "string" ? !isLongerThan(id, MAX_ID_BYTES) : Number.isInteger(id);',
    replace: 'return typeof id === "string" || Number.isInteger(id);',
    tests: ["message_decoder_test.ts", "server_lines_test.ts"],
    breaks: "an id of megabytes is repeated in each answer, and the answer may not fit",
  },
  {
    id: "F4-2",
    file: "internal/framing/message_rules.ts",
    find: "return text.length > bytes || new TextEncoder().encode(text).length > bytes;",
    replace: "return text.length > bytes;",
    tests: ["message_decoder_test.ts"],
    breaks: "an id of 12 KiB counts as one of 4",
  },
  {
    id: "XC2-1",
    file: "internal/server/error_answers.ts",
    find: "(hasMethod ? !hasId : hasResult)",
    replace: "(hasResult && !hasMethod)",
    tests: ["server_lines_test.ts"],
    breaks: "a notification is answered, at which Go clients end the session",
  },
  {
    id: "XC2-2",
    file: "internal/framing/message_decoder.ts",
    find: "  if (message.params === null) delete message.params;\n",
    replace: "",
    tests: ["message_decoder_test.ts"],
    breaks: "a handler gets null for params",
  },
  {
    id: "XC5-1",
    file: "internal/framing/message_decoder.ts",
    find: "    if (wrong === undefined) return toReceived(message, line, parts[index], size);",
    replace: '    if (wrong === undefined) return { kind: "message" as const, message };',
    tests: ["message_decoder_test.ts", "server_eras_test.ts"],
    breaks: "the answer to a member of a batch has another id than the request",
  },
  {
    id: "XC5-2",
    file: "internal/framing/message_decoder.ts",
    find: "  return !isUnsafeInteger(meta?.progressToken);",
    replace: "  return true;",
    tests: ["message_decoder_test.ts"],
    breaks: "progress comes back under a token that nobody gave",
  },
  {
    id: "XC13-1",
    file: "internal/framing/message_decoder.ts",
    find: "  if (values.length > MAX_BATCH_MEMBERS) return",
    replace: "  if (values.length > 1e9) return",
    tests: ["message_decoder_test.ts"],
    breaks: "one line of a megabyte makes half a million answers",
  },
];
