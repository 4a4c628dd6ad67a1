import assert from "node:assert/strict";
import { test } from "node:test";
import { effectOf } from "../internal/steering_names.ts";

const STEERING =
  "NODE_OPTIONS NODE_PATH LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES BUN_CONFIG DENO_DIR PYTHONPATH PYTHONSTARTUP PERL5OPT " +
  "RUBYOPT JAVA_TOOL_OPTIONS CLASSPATH DOTNET_STARTUP_HOOKS BASH_ENV ENV PATH Path PATHEXT ComSpec SystemRoot windir " +
  "GIT_SSH_COMMAND GIT_CONFIG_COUNT npm_config_registry UV_INDEX_URL PIP_INDEX_URL HOME XDG_CONFIG_HOME HTTPS_PROXY " +
  "https_proxy NODE_EXTRA_CA_CERTS SSL_CERT_FILE DOCKER_HOST";
for (const name of STEERING.split(" ")) {
  test(`effectOf() knows that ${name} steers what runs (XD3, XD9)`, () => {
    assert.match(effectOf(name) ?? "", /^(can|decides) /);
  });
}

const HARMLESS =
  "KEY TOKEN NODE_ENV PYTHONUNBUFFERED GIT_AUTHOR_NAME LANG DEBUG PORT DB_URL constructor __proto__ npm_config__authToken " +
  "DENO_AUTH_TOKENS UV_PUBLISH_TOKEN";
for (const name of HARMLESS.split(" ")) {
  test(`effectOf() says that ${name} steers nothing (XD3)`, () => assert.equal(effectOf(name), undefined));
}
