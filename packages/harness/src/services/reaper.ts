import { rmSync } from 'node:fs';
import { descendantsOf } from '../clusters/machine-facts.ts';

/** A child process that must not outlive this process, and optionally its working directory. */
export interface Leftover {
  readonly directory?: string;
  readonly pid: number | undefined;
}

const leftovers = new Set<Leftover>();
let watching = false;

/**
 * Registers a child process to be killed, and a directory to be removed, when this process ends. Returns a
 * function that cancels the registration.
 */
export function reapAtExit(leftover: Leftover): () => void {
  leftovers.add(leftover);
  if (!watching) {
    watching = true;
    process.on('exit', reap);
    process.on('SIGINT', reapOnSignal);
    process.on('SIGTERM', reapOnSignal);
    process.on('SIGHUP', reapOnSignal);
  }
  return () => void leftovers.delete(leftover);
}

function reap(): void {
  for (const { pid, directory } of leftovers) {
    if (pid !== undefined) thawingBelow(pid, () => signalQuietly(pid, 'SIGKILL'));
    if (directory !== undefined)
      rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  }
  leftovers.clear();
}

// Signal listener that cleans up before this process ends. A listener suppresses the default effect of the
// signal, which is to end the process. So this function removes itself as a listener, and sends the signal
// again. If there is another listener, such as that of mocha for SIGINT, the other listener ends the process.
function reapOnSignal(signal: NodeJS.Signals): void {
  reap();
  process.off(signal, reapOnSignal);
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}

/**
 * Thaws the frozen descendants of a process after `end` has ended the process. Frozen descendants could not
 * notice that end and would stay.
 */
export function thawingBelow<T>(pid: number, end: () => T): T {
  const below = descendantsOf(pid);
  const response = end();
  for (const each of below) signalQuietly(each, 'SIGCONT');
  return response;
}

/** Sends a signal to a process, or to a group for a negative id. Ignores a process that has ended. */
export function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
