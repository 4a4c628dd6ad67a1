/** Keys that people write for others: misspelt ones, and those that other programs use. */

/** What people write for a key, in lower case and without signs. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  command: ["cmd", "exec", "program", "executable", "binary"],
  args: ["arguments", "argv", "params", "parameters"],
  env: ["environment", "environ", "variables", "vars", "envvars"],
  envFile: ["dotenv", "environmentfile"],
  cwd: ["workingdirectory", "workingdir", "workdir", "directory"],
  url: ["uri", "endpoint", "address"],
  type: ["transport"],
  inputSchema: ["parameters", "params", "paramsschema", "args", "arguments", "schema", "input", "inputs"],
  outputSchema: ["output", "outputs", "returns", "result", "resultschema"],
  call: ["execute", "handler", "handle", "run", "fn", "func", "callback", "cb", "invoke"],
  read: ["handler", "handle", "load", "callback", "cb", "fn", "get"],
  get: ["handler", "handle", "callback", "cb", "fn", "messages", "build", "render"],
  arguments: ["args", "argsschema", "parameters", "params"],
  info: ["serverinfo", "implementation", "server"],
  mcpServers: ["servers", "mcp", "mcpserver"],
  servers: ["mcpservers", "mcp", "server"],
};

/** The key that is meant by another one, if that can be guessed. */
export function findMeant(written: string, keys: readonly string[]): string | undefined {
  if (written.length > 40 || keys.includes(written)) return undefined;
  const plain = toPlain(written);
  const namesOf = (key: string) => [toPlain(key), ...(OTHER_NAMES[key] ?? [])];
  return keys.find((key) => namesOf(key).includes(plain)) ??
    keys.find((key) => namesOf(key).some((name) => isNear(name, plain)));
}

/** Whether a word may be the other one with a slip: in a short one there is no room for two. */
function isNear(name: string, written: string): boolean {
  const most = name.length > 4 ? 2 : 1;
  return Math.abs(name.length - written.length) <= most && distance(name, written) <= most;
}

function toPlain(key: string): string {
  return key.replaceAll(/[^A-Za-z]/g, "").toLowerCase();
}

/** How many letters must be put in, left out, replaced or swapped to make one word of another. */
export function distance(left: string, right: string): number {
  let before: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const next = [row];
    for (let column = 1; column <= right.length; column++) {
      const cost = left[row - 1] === right[column - 1] ? 0 : 1;
      const isSwap = row > 1 && column > 1 && left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1];
      next.push(Math.min(
        last[column]! + 1,
        next[column - 1]! + 1,
        last[column - 1]! + cost,
        isSwap ? before[column - 2]! + 1 : Infinity,
      ));
    }
    before = last;
    last = next;
  }
  return last[right.length]!;
}
