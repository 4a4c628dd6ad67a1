/** Programs that install a server before they start it, by themselves or by their first words. */
const INSTALLERS: ReadonlyArray<readonly [command: string, ...words: string[]]> = [
  ["npx"],
  ["pnpx"],
  ["bunx"],
  ["uvx"],
  ["npm", "exec"],
  ["npm", "x"],
  ["pnpm", "dlx"],
  ["yarn", "dlx"],
  ["bun", "x"],
  ["uv", "tool", "run"],
  ["pipx", "run"],
  ["docker", "run"],
  ["podman", "run"],
];

/** The program that a command installs the server with; undefined if it is not known to install anything. */
export function installerOf(command: string, args: readonly string[]): string | undefined {
  const name = command.replace(/^.*[\\/]/, "").replace(/\.(?:cmd|exe|bat|ps1)$/i, "").toLowerCase();
  const found = INSTALLERS.find(([program, ...words]) =>
    program === name && words.every((word, index) => args[index] === word)
  );
  if (found !== undefined) return found.join(" ");
  const runsRemote = name === "deno" && args.some((arg) => /^(?:npm|jsr|https?):/.test(arg));
  return runsRemote ? "deno" : undefined;
}
