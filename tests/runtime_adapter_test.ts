/**
 * The conformance suite of the runtime adapters. It tests the one of the runtime it runs on; the programs it starts run
 * on the same runtime.
 */

import "./runtime_adapter/child.ts";
import "./runtime_adapter/failures.ts";
import "./runtime_adapter/own_stdio.ts";
import "./runtime_adapter/stdout_guard.ts";
import "./runtime_adapter/own_process.ts";
