/**
 * Variables that decide which code a program runs, whatever its command line says. Who is asked whether a server may run
 * must see their values, and a pattern does not take them over from this process by the way.
 */

import { secrecyOf } from "./secrets.ts";

/** Beginnings of families of such names. */
export const STEERING_PREFIXES: readonly string[] = [
  "LD_",
  "DYLD_",
  "DENO_",
  "BUN_",
  "NODE_OPTIONS",
  "BASH_FUNC_",
  "CARGO_",
  "CORECLR_",
  "COR_",
  "GIT_CONFIG",
  "LUA_",
  "NPM_CONFIG_",
  "OPENSSL_",
  "PIP_",
  "PNPM_",
  "UV_",
  "YARN_",
];

const NAMES_BY_EFFECT: readonly (readonly [effect: string, names: string])[] = [
  [
    "can make a program load code",
    "NODE_PATH NODE_REPL_EXTERNAL_MODULE PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONUSERBASE PYTHONBREAKPOINT PYTHONINSPECT " +
    "PYTHONWARNINGS PERL5OPT PERL5LIB PERL5DB PERLLIB RUBYOPT RUBYLIB GEM_HOME GEM_PATH BUNDLE_GEMFILE JAVA_TOOL_OPTIONS " +
    "_JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS PHPRC PHP_INI_SCAN_DIR R_PROFILE_USER " +
    "JULIA_LOAD_PATH ERL_FLAGS ERL_AFLAGS GOFLAGS RUSTC_WRAPPER BASH_ENV ENV ZDOTDIR SHELLOPTS BASHOPTS PS4 IFS PROMPT_COMMAND " +
    "ELECTRON_RUN_AS_NODE GTK_MODULES QT_PLUGIN_PATH GCONV_PATH GLIBC_TUNABLES",
  ],
  [
    "decides which programs are run",
    "PATH PATHEXT SHELL COMSPEC SYSTEMROOT SYSTEMDRIVE WINDIR PSMODULEPATH EDITOR VISUAL PAGER BROWSER SSH_ASKPASS " +
    "GIT_ASKPASS GIT_EDITOR GIT_EXEC_PATH GIT_EXTERNAL_DIFF GIT_PAGER GIT_PROXY_COMMAND GIT_SSH GIT_SSH_COMMAND GIT_TEMPLATE_DIR",
  ],
  [
    "decides from where settings are read",
    "HOME USERPROFILE APPDATA LOCALAPPDATA XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME XDG_DATA_DIRS",
  ],
  [
    "decides whom a program trusts and through whom it speaks",
    "NODE_TLS_REJECT_UNAUTHORIZED NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE " +
    "PYTHONHTTPSVERIFY HTTP_PROXY HTTPS_PROXY ALL_PROXY GOPROXY DOCKER_HOST",
  ],
];
const EFFECTS: ReadonlyMap<string, string> = new Map(
  NAMES_BY_EFFECT.flatMap(([effect, names]) => names.split(" ").map((name) => [name, effect])),
);

/** What a variable can do, as the end of a sentence; undefined if it steers nothing. One that is a secret is none of these. */
export function effectOf(name: string): string | undefined {
  // Windows ignores case, and so do some programs elsewhere.
  const folded = name.toUpperCase();
  const isFamily = STEERING_PREFIXES.some((prefix) => folded.startsWith(prefix));
  const effect = isFamily ? "can make a program load code or act otherwise" : EFFECTS.get(folded);
  return effect === undefined || secrecyOf(name) === "secret" ? undefined : effect;
}
