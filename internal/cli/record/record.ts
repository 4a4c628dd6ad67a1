/**
 * `record`: stands between a host and a server and writes down what passes. It changes nothing of it: bytes, order,
 * back-pressure, signals, exit code. What goes wrong with the recording is said on stderr and costs the session nothing.
 */

import type { ChildHandle, Clock, ExitStatus } from "../../../runtime.ts";
import { delay, settlesWithin } from "../../clock.ts";
import { planLaunch } from "../../process/launch.ts";
import { openChannel } from "../../runtime/byte_channel.ts";
import { closeOwnStdout, endBySignal, ownStderr } from "../../runtime/node_api/own_ends.ts";
import { quoteText } from "../../shown_text.ts";
import { EXIT, type ExitCode, type Invocation } from "../command.ts";
import type { CliIo } from "../io.ts";
import { showJson } from "../shown_text.ts";
import { resolveTarget, toLaunchSettings } from "../target.ts";
import { Pump } from "./pump.ts";
import { Recording } from "./recording.ts";
import { SignalRelay } from "./signals.ts";

/** Looked at so many times, with a while between, output that still does not come is held open by something else. */
const LOOKS = 5;
const LOOK_MS = 50;
/** How often it is looked whether the host has died, once it sends nothing any more. */
const HOST_POLL_MS = 500;
/** So long a server whose host has died has to end by itself, and again after SIGTERM. */
const ORPHAN_GRACE_MS = 2_000;

/** Runs it: until the server has ended. */
export async function runRecord(invocation: Invocation, io: CliIo): Promise<ExitCode> {
  const { runtime, screen } = io;
  const [path = ""] = invocation.words;
  const target = await resolveTarget(invocation, io);
  const launch = toLaunchSettings(target, { processGroup: false, stderr: "pipe" });
  const server = await runtime.spawn(await planLaunch(launch, runtime));
  const keepsSecrets = invocation.options.has("keep-secrets");
  const recording = await Recording.open({ path, target, server, keepsSecrets }, io);
  const exit = await standBetween(server, recording, io);
  await recording.close(exit);
  // Stdout is the server's, so what there is to say goes to stderr, and only if somebody wants it.
  if (invocation.isJson) screen.note(showJson({ recording: recording.path ?? null, exit }));
  else if (screen.moves && recording.path !== undefined) {
    screen.note(screen.err.dim(`recorded: mcp-stdio show ${quoteText(recording.path)}`));
  }
  if (exit?.signal !== undefined) {
    await screen.flush();
    return await endBySignal(exit.signal);
  }
  return exit?.code ?? EXIT.unusable;
}

/** Hands on everything until the server has ended and its output was read. */
async function standBetween(
  server: ChildHandle,
  recording: Recording,
  io: CliIo,
): Promise<ExitStatus | null> {
  const { runtime, clock } = io;
  const hostPid = runtime.parentPid;
  const host = openChannel(runtime.openStdio());
  const pipes = openChannel({ readable: server.stdout, writable: server.stdin });
  const errors = openChannel({ readable: server.stderr!, writable: new WritableStream() });
  const stderr = ownStderr();
  const relay = new SignalRelay(runtime, server, (event) => recording.event(event));
  let hasExited = false;
  const input = new Pump(
    host.input,
    { output: pipes.output, close: () => pipes.output.close() },
    recording.directionOf("client", () => void endWithHost(server, hostPid, () => hasExited, io)),
  );
  const outputs = [
    new Pump(pipes.input, { output: host.output, close: closeOwnStdout }, recording.directionOf("server")),
    new Pump(errors.input, { output: stderr, close: () => stderr.close() }, recording.directionOf("stderr")),
  ];
  void input.run();
  const over = Promise.all(outputs.map((output) => output.run()));
  const exit = await server.exited;
  hasExited = true;
  await relay.stop();
  await readToEnd(outputs, over, clock);
  return exit;
}

/** What the server has written is handed on to its end; what something else holds open has no end. */
async function readToEnd(outputs: readonly Pump[], over: Promise<unknown>, clock: Clock): Promise<void> {
  let seen = -1;
  for (let looks = 0; looks < LOOKS; looks++) {
    if (await settlesWithin(clock, over, LOOK_MS)) return;
    const reads = outputs.reduce((sum, output) => sum + output.reads, 0);
    if (reads !== seen || outputs.some(({ isWriting }) => isWriting)) looks = 0;
    seen = reads;
  }
}

/**
 * A host that has died cannot end its server any more. One that does not end at the end of its input is ended then, as
 * nobody else will.
 */
async function endWithHost(
  server: ChildHandle,
  hostPid: number,
  hasExited: () => boolean,
  { runtime, clock }: CliIo,
): Promise<void> {
  if (runtime.os === "windows") return;
  while (runtime.parentPid === hostPid) {
    await delay(clock, HOST_POLL_MS);
    if (hasExited()) return;
  }
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    await settlesWithin(clock, server.exited, ORPHAN_GRACE_MS);
    if (hasExited()) return;
    server.signal(signal, "child");
  }
}
