import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { marking } from '../src/run/marked.ts';
import { momentNow, type Orders } from '../src/run/orders.ts';

export const WATCHDOG: string = fileURLToPath(new URL('../src/run/watchdog-process.ts', import.meta.url));
const STUBBORN = `trap '' TERM; sh -c "trap '' TERM; echo up; sleep 600"`;

/**
 * Starts watchdogs, and commands with a random text in an environment variable. A watchdog does not know the
 * process group of a command, and finds the command's processes by that text.
 */
export class Kennel {
  readonly mark: string = randomUUID();
  readonly #dogs: ChildProcess[] = [];
  readonly #commands: ChildProcess[] = [];

  async watchdog(killInMs: number): Promise<ChildProcess> {
    const child = spawn(process.execPath, [...process.execArgv, WATCHDOG], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#dogs.push(child);
    await once(child.stdout, 'data');
    const orders: Orders = { mark: this.mark, from: momentNow(), termInMs: killInMs, killInMs, graceMs: 50 };
    child.stdin.write(`${JSON.stringify(orders)}\n`);
    return child;
  }

  /** Starts a command that ignores SIGTERM and has a child process that also ignores it. */
  stubborn(): ChildProcess {
    const env = { ...process.env, ...marking(this.mark) };
    const child = spawn('sh', ['-c', STUBBORN], { env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    this.#commands.push(child);
    return child;
  }

  /** Kills all watchdogs and commands that are still running. */
  close(): void {
    for (const dog of this.#dogs) dog.kill('SIGKILL');
    for (const { pid } of this.#commands) endGroup(pid!);
  }
}

/**
 * Resolves with the signal that ended the command, once its output is closed. The output closes when the last
 * process of the command has ended.
 */
export async function allRemoved(command: ChildProcess): Promise<unknown> {
  const [, signal] = (await once(command, 'close')) as [unknown, unknown];
  return signal;
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
