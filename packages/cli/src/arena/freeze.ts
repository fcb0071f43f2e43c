import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

// A suspended process does not notice the death of its parent and would stay suspended forever. So a small keeper process reads
// from the parent and resumes it, upon `thaw` or when the parent has died.
const SCRIPT =
  'kill -STOP "$1"; echo still; read -r word; if [ "$word" = thaw ]; then kill -CONT "$1"; else kill -KILL "$1"; fi';

const MAX_TRIES = 10;
const STEP_MS = 20;

/**
 * Suspends a process (SIGSTOP) until the returned function resumes it, or until this process ends.
 * @param isFree Resolves with whether other processes can use the store. A process that is suspended in the middle of a file
 * access blocks them all. It is then resumed for a moment and suspended again.
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
    // Keeps signals of the keyboard away from the keeper: the demo handles them.
    detached: true,
  });
  const ended = once(keeper, 'close');
  await Promise.race([once(keeper.stdout, 'data'), ended]);
  return async () => {
    // Resumes the process from here if the keeper has died.
    keeper.stdin.on('error', () => process.kill(pid, 'SIGCONT'));
    keeper.stdin.end('thaw\n');
    await ended;
  };
}
