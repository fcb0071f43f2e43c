// A process that uses queuelock and records what it sees: worker.ts <WorkerSetup as JSON>. Receives commands
// over the IPC channel.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createLockClient, type LockClient } from '@queuelock/core';
import { backendFromUrl } from '@queuelock/cli/src/backends.ts';
import { controlled } from './controls.ts';
import { openEffects } from './effects.ts';
import type { ChaosEvent } from '@queuelock/harness/check/event';
import { Heartbeats } from './instrumented.ts';
import { machineClock, monotonicClock } from './true-clock.ts';
import type { WorkerCommand, WorkerSetup } from './worker-command.ts';
import { Recorder, stampBy } from '@queuelock/harness/check/worker-record';
import { Tasks } from './worker-tasks.ts';

const DELAY_RESOLUTION_MS = 10;
// Time limit of a connection in milliseconds. It is as long as the harness waits for a hold, so that a server
// that opens sessions slowly does not fail the test.
const CONNECT_WITHIN_MS = 120_000;
const CRASHED = 70;
const LINGERS_MS = 1_000;
const CRASHES = ['uncaughtException', 'unhandledRejection'] as const;
const EXIT_CODE = 7;

const setup = JSON.parse(process.argv[2]!) as WorkerSetup;
const { id, url, ttlMs, safetyMarginMs, rule, history } = setup;
if (setup.clock) stampBy(machineClock(setup.clock));
const recorder = new Recorder(id, history, tellHarness);
for (const way of CRASHES) {
  process.on(way, (error) => {
    recorder.tell({
      ev: 'crashed',
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    process.exit(CRASHED);
  });
}
process.on('disconnect', leave);

const heartbeats = new Heartbeats(recorder);
const own = {
  connectTimeoutMs: CONNECT_WITHIN_MS,
  ...(setup.heartbeatIntervalMs === undefined ? {} : { heartbeatIntervalMs: setup.heartbeatIntervalMs }),
  ...(setup.clock?.alone ? { clock: monotonicClock() } : {}),
};
const clients = await Promise.all(Array.from({ length: setup.clients ?? 1 }, openClient));
const effects = openEffects(setup);
const tasks = new Tasks({ id, clients, recorder, heartbeats, effects }, setup.seed);
const loopDelay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
loopDelay.enable();
process.on('message', (command) => {
  const reported = command as WorkerCommand;
  if (reported.do === 'close') void close();
  else if (reported.do === 'end') end(reported.by);
  else tasks.do(reported);
});
recorder.tell({
  ev: 'started',
  pid: process.pid,
  ttlMs,
  safetyMarginMs: safetyMarginMs - (setup.clock?.lagMs ?? 0),
});

async function openClient(): Promise<LockClient> {
  const backend = heartbeats.around(controlled(rule, await backendFromUrl(url), setup));
  const client = createLockClient(backend, { ttlMs, safetyMarginMs, owner: id, ...own });
  client.session$.subscribe(({ status }) => {
    if (status === 'lost') recorder.tell({ ev: 'session-lost' });
  });
  return client;
}

function tellHarness(event: ChaosEvent): void {
  if (setup.quiet && ('n' in event || event.ev === 'beat')) return;
  // Ignores an error of sending an event: if the harness has ended, only the history file has the event.
  if (process.connected) process.send?.(event, undefined, undefined, () => undefined);
}

function leave(): void {
  process.exit();
}

/** Ends the process without cleanup: neither the exit handlers of this worker nor those of queuelock run. */
function end(by: 'exit' | 'throw'): void {
  if (by === 'exit') process.exit(EXIT_CODE);
  for (const way of CRASHES) process.removeAllListeners(way);
  setImmediate(() => {
    throw new Error('the program has a mistake');
  });
}

/**
 * Prints to stderr which resources keep the process alive after it was closed. The harness stores the
 * worker's stderr in a file.
 */
function tellWhatKeepsIt(): void {
  console.error(`it goes on after it was closed, because of ${process.getActiveResourcesInfo().join(', ')}`);
}

/**
 * Closes the worker. From then on only resources that the lock clients failed to release keep this process
 * alive.
 */
async function close(): Promise<void> {
  tasks.stop();
  await effects.close();
  await Promise.all(clients.map((client) => client.close()));
  loopDelay.disable();
  const loopDelayMs = Math.max(0, loopDelay.max / 1e6 - DELAY_RESOLUTION_MS);
  recorder.tell({ ev: 'closed', loopDelayMs });
  process.off('disconnect', leave);
  process.disconnect();
  setTimeout(tellWhatKeepsIt, LINGERS_MS).unref();
}
