/** One small edit of the library that a test must notice. */
export interface Mutation {
  /** The rule or the row it breaks, and a number if there are more: `XA2-1`. */
  readonly id: string;
  /** The file that is edited, from the root of the repository. */
  readonly file: string;
  /** Text that stands exactly once in the file. */
  readonly find: string;
  /** What stands there instead. */
  readonly replace: string;
  /** The test files that must notice, in `tests/`. */
  readonly tests: readonly string[];
  /** What a user would get. */
  readonly breaks: string;
  /** Where the tests run, if the code is of one runtime: Deno if it is not said. */
  readonly runtime?: "deno" | "bun" | "node";
  /** Why no test can notice, since nothing changes that a user can see. Such a row is not counted. */
  readonly equivalent?: string;
}
