/** The reader of options that all three runtimes have. What it complains of differs from one to the other: nobody shows its words. */
export { parseArgs } from "node:util";
