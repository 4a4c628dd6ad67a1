import type { RuntimeAdapter } from "../../runtime.ts";
import type { OwnedProcess } from "./owned_process.ts";

interface Watch {
  readonly processes: Set<OwnedProcess>;
  readonly stop: () => void;
}

/** By runtime: what is running, and the one listener for the end of this process. */
const watches = new WeakMap<RuntimeAdapter, Watch>();

/** Sees to it that a process ends with this one (rule P9). Returns what undoes it, once the process is reaped. */
export function endWithThisProcess(process: OwnedProcess, runtime: RuntimeAdapter): () => void {
  const watch = watches.get(runtime) ?? startWatch(runtime);
  watch.processes.add(process);
  return () => {
    if (!watch.processes.delete(process) || watch.processes.size > 0) return;
    watch.stop();
    watches.delete(runtime);
  };
}

function startWatch(runtime: RuntimeAdapter): Watch {
  const processes = new Set<OwnedProcess>();
  const stop = runtime.onProcessEnd(() => {
    for (const process of processes) process.endNow();
  });
  const watch = { processes, stop };
  watches.set(runtime, watch);
  return watch;
}
