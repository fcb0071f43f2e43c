import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { stdioWithout, strayDescriptors } from './descriptors.ts';

/** A command in a process group of its own, so that whatever it started can be ended with it. */
export class CommandProcess {
  /** The command's exit code, 128+n if signal n ended it. */
  readonly exited: Promise<number>;
  readonly #pid: number;

  private constructor(pid: number, child: ChildProcess) {
    this.#pid = pid;
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        resolve(signal === null ? (code ?? EXIT.failure) : exitCodeOf(signal));
      });
    });
  }

  /** Starts a program, without a shell, on this process's own input and output. */
  static async start(
    command: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<CommandProcess> {
    const [program = '', ...args] = command;
    const nothing = openSync('/dev/null', 'r+');
    const stdio = stdioWithout(strayDescriptors(), nothing);
    const child = spawn(program, args, { stdio, detached: true, env: { ...process.env, ...env } });
    closeSync(nothing);
    return new Promise((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) => {
        reject(notStarted(program, error));
      });
      if (child.pid !== undefined) resolve(new CommandProcess(child.pid, child));
    });
  }

  /** To the whole group; no effect when nobody of it is left. */
  signal(signal: NodeJS.Signals): void {
    this.#send(signal);
  }

  /** Whether any process of the group is left. */
  get alive(): boolean {
    return this.#send(0);
  }

  #send(signal: NodeJS.Signals | 0): boolean {
    try {
      process.kill(-this.#pid, signal);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ESRCH') return false;
      // There is a process, and it has become somebody else's (setuid).
      if (code === 'EPERM') return true;
      throw error;
    }
  }
}

function notStarted(program: string, cause: NodeJS.ErrnoException): Failure {
  const missing = cause.code === 'ENOENT';
  const why = missing ? 'no such program in PATH' : (cause.code ?? cause.message);
  return new Failure(`cannot start ${JSON.stringify(program)}: ${why}`, {
    exitCode: missing ? EXIT.notFound : EXIT.notExecutable,
    cause,
  });
}
