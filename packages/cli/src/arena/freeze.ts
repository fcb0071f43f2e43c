import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

// A suspended process does not notice the death of its parent, and would stay suspended forever. So a small
// shell process, the keeper, waits for a line from the parent. It resumes the suspended process when it reads
// `thaw`, and kills it when the parent has died.
const SCRIPT =
  'kill -STOP "$1"; echo still; read -r word; if [ "$word" = thaw ]; then kill -CONT "$1"; else kill -KILL "$1"; fi';

const MAX_TRIES = 10;
const STEP_MS = 20;

/**
 * Suspends a process (SIGSTOP) until the caller calls the returned function, or until this process ends.
 * @param isFree resolves with whether other processes can use the store. A process that is suspended while it
 *   accesses the file of a SQLite store blocks all other clients of the store. If `isFree` resolves with
 *   `false`, the suspended process is resumed for a moment and suspended again.
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
    // The shell process (the keeper) that resumes the suspended process runs in its own process group. So
    // Ctrl-C does not reach it. The demo handles Ctrl-C itself.
    detached: true,
  });
  const ended = once(keeper, 'close');
  await Promise.race([once(keeper.stdout, 'data'), ended]);
  return async () => {
    // If the shell process (the keeper) has died, this process resumes the suspended process itself.
    keeper.stdin.on('error', () => process.kill(pid, 'SIGCONT'));
    keeper.stdin.end('thaw\n');
    await ended;
  };
}
