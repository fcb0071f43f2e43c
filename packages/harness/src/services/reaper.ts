import { rmSync } from 'node:fs';
import { descendantsOf } from '../clusters/machine-facts.ts';

/** Something that must not outlive this process: a child and the directory it works in, if it has one to itself. */
export interface Leftover {
  readonly directory?: string;
  readonly pid: number | undefined;
}

const leftovers = new Set<Leftover>();
let watching = false;

/** From now on the child is killed and the directory removed when this process ends. Answers with the way to take it back. */
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

// Only synchronous work is possible on the way out. Having a listener takes the signal's default away, so it is given
// back, unless somebody else (mocha on SIGINT) listens too and will end the process in their own way.
function reapOnSignal(signal: NodeJS.Signals): void {
  reap();
  process.off(signal, reapOnSignal);
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}

/** Whoever was frozen with a process goes on when `end` has ended it, and notices that; frozen it would stay for ever. */
export function thawingBelow<T>(pid: number, end: () => T): T {
  const below = descendantsOf(pid);
  const answer = end();
  for (const each of below) signalQuietly(each, 'SIGCONT');
  return answer;
}

/** Does nothing to a process (a group of them, if negative) that has ended, which may not have been reported yet. */
export function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
