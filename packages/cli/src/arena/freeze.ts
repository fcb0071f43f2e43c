import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

// One that stands still does not notice that its parent has died, and would stand there for ever. So somebody small keeps it, who reads
// from the parent: `thaw`, or the end of a parent that could not say anything any more.
const SCRIPT =
  'kill -STOP "$1"; echo still; read -r word; if [ "$word" = thaw ]; then kill -CONT "$1"; else kill -KILL "$1"; fi';

const MAX_TRIES = 10;
const STEP_MS = 20;

/**
 * Lets a process stand still (SIGSTOP); it does not outlive this one. The answer lets it go on.
 * @param isFree whether others can go on: one that happens to stand still in the middle of a step on a file keeps it from
 * everybody, so it goes on for a moment and is stopped again
 */
export async function freeze(pid: number, isFree: () => Promise<boolean>): Promise<() => Promise<void>> {
  for (let tries = 1; ; tries += 1) {
    const thaw = await stop(pid);
    if (tries === MAX_TRIES || (await isFree())) return thaw;
    await thaw();
    await pause(STEP_MS);
  }
}

async function stop(pid: number): Promise<() => Promise<void>> {
  const keeper = spawn('/bin/sh', ['-c', SCRIPT, 'sh', String(pid)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    // The keyboard's signals are for the demo.
    detached: true,
  });
  const ended = once(keeper, 'close');
  await Promise.race([once(keeper.stdout, 'data'), ended]);
  return async () => {
    // Should the keeper be gone, there is nobody else to do it.
    keeper.stdin.on('error', () => process.kill(pid, 'SIGCONT'));
    keeper.stdin.end('thaw\n');
    await ended;
  };
}
