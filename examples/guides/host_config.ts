// deno-lint-ignore-file no-console -- it shows what came
// The blocks of docs/host-config.md.
import { HostConfigError } from "@mcp/stdio/errors";
import { launchAll, parseHostConfig } from "@mcp/stdio/host-config";
import assert from "node:assert/strict";

const text = `{
  "servers": {
    "issues": {
      "command": "npx",
      "args": ["-y", "issues-server", "--repo", "\${workspaceFolderBasename}"],
      "env": { "TOKEN": "\${input:token}", "LOG_LEVEL": "\${LOG_LEVEL:-info}" }
    },
    "broken": { "comand": "npx" }
  },
  "inputs": [{ "id": "token", "type": "promptString", "description": "A token", "password": true }]
}`;
const asked: string[] = [];
const ask = (question: string) => Promise.resolve(`answer ${asked.push(question)}`);

//#region parse
const config = await parseHostConfig(text, {
  path: "/home/me/project/.vscode/mcp.json",
  env: { HOME: "/home/me" }, // what references may stand for
  resolveInput: ({ description }) => ask(description ?? "A value"), // asked when a server refers to it
});
for (const server of config.servers) {
  if (server.kind === "invalid") console.error(server.error.message);
  else console.error(server.commandLine); // fit to be shown: secrets are masked
}
//#endregion
assert.equal(config.dialect, "vscode");
assert.deepEqual(asked, ["A token"]);
assert.equal(config.servers[0]?.commandLine, "TOKEN=… LOG_LEVEL=… npx -y issues-server --repo project");
assert.match(
  config.servers[1]?.error?.message ?? "",
  /^Cannot use the server "broken" in ".*": "command" is missing: did you mean it by "comand"\? \(line 8, column 15\)$/,
);
assert.ok(config.servers[1]?.error instanceof HostConfigError);

const remembered: string[] = [];
const show = (line: string) => Promise.resolve(line.includes("issues-server"));

//#region launch
const outcomes = await launchAll(config, {
  approved: remembered, // fingerprints of what was agreed to before
  consent: (server) => show(server.commandLine), // only `true` is a consent
  launch: (options) => Promise.resolve(`started ${options.command}`), // in a host: (options) => spawn(options)
  concurrency: 8,
  perCommandConcurrency: 1, // several npx at a time can break their cache
});
for (const outcome of outcomes) {
  if (outcome.kind === "launched") remembered.push(outcome.server.fingerprint);
  if (outcome.kind === "failed") console.error(outcome.server.name, outcome.error);
}
//#endregion
assert.deepEqual(outcomes.map(({ kind }) => kind), ["launched", "failed"]);
assert.match(remembered[0] ?? "", /^sha256:[0-9a-f]{64}$/);
