import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { endChild, type Command } from '../services/child.ts';
import { findProgram } from '../services/programs.ts';
import { NotHere } from '../services/service.ts';

/**
 * Keeps nameless Linux namespaces alive by an idle process in them. The idle process ends when its input
 * closes, so it never outlives the test process. When the last process in a namespace has ended, the kernel
 * removes the namespace with its links, addresses, rules and mounts. A named namespace (ip netns) would
 * remain after a crash.
 */
export class Keeper {
  readonly #child: ChildProcess;
  readonly #kinds: readonly string[];

  private constructor(child: ChildProcess, kinds: readonly string[]) {
    this.#child = child;
    this.#kinds = kinds;
  }

  /**
   * Starts the idle process. Rejects with `NotHere` (not available on this machine) and the message of unshare(1) if the test process may not make
   * namespaces.
   */
  static async start(...kinds: ('net' | 'mount')[]): Promise<Keeper> {
    const flags = kinds.map((kind) => `--${kind}`);
    const program = await findProgram('unshare');
    if (program === undefined) throw new NotHere('unshare (of util-linux) is not installed');
    const child = spawn(program, [...flags, '--', 'cat'], { stdio: 'pipe' });
    child.stdin.on('error', () => undefined).write('here\n');
    const printed: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => printed.push(text));
    const ended = once(child, 'close').then(() => printed.join('').trim(), String);
    // The idle process echoes a line when it runs, which confirms that unshare(1) has made the namespaces.
    const echo = once(child.stdout, 'data').then(() => undefined);
    const refusal = await Promise.race([echo, ended]);
    if (refusal !== undefined) throw new NotHere(`unshare ${flags.join(' ')}: ${refusal}`);
    child.unref();
    for (const pipe of child.stdio) (pipe as Socket | null)?.unref();
    return new Keeper(child, flags);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /**
   * Returns a command that runs the program of `command` in the namespaces of this idle process. Signals to the returned command reach that program.
   */
  inside({ program, args, ...rest }: Command): Command {
    const enter = ['--target', String(this.pid), ...this.#kinds, '--'];
    return { program: 'nsenter', args: [...enter, program, ...args], ...rest };
  }

  async stop(): Promise<void> {
    await endChild(this.#child, 'SIGKILL');
  }
}
