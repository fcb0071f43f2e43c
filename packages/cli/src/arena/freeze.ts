import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

// A suspended process does not notice the death of its parent and would stay suspended forever. So a small
// keeper process reads from the parent. It resumes the suspended process when it reads `thaw`, and kills it
// when the parent has died.
const SCRIPT =
  'kill -STOP "$1"; echo still; read -r word; if [ "$word" = thaw ]; then kill -CONT "$1"; else kill -KILL "$1"; fi';

const MAX_TRIES = 10;
const STEP_MS = 20;

/**
 * Suspends a process (SIGSTOP) until the returned function resumes it, or until this process ends.
 * @param isFree resolves with whether other processes can use the store. A process that is suspended in the
 *   middle of a file access blocks all others. Then it is resumed for a moment and suspended again.
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
    // A process group of its own keeps keyboard signals away from the keeper, because the demo handles them.
    detached: true,
  });
  const ended = once(keeper, 'close');
  await Promise.race([once(keeper.stdout, 'data'), ended]);
  return async () => {
    // If the keeper has died, the process is resumed from here.
    keeper.stdin.on('error', () => process.kill(pid, 'SIGCONT'));
    keeper.stdin.end('thaw\n');
    await ended;
  };
}
