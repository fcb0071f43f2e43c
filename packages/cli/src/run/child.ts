import { spawn, type ChildProcess } from 'node:child_process';
import type { Environment } from '../config/file.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { withoutStrays } from './descriptors.ts';

/** A command in its own process group, so that one signal reaches the command and its descendants. */
export class CommandProcess {
  /** Exit code of the command; 128+n if signal n ended the command. */
  readonly exited: Promise<number>;
  /** Id of the command's process group. */
  readonly group: number;

  private constructor(pid: number, child: ChildProcess) {
    this.group = pid;
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        resolve(signal === null ? (code ?? EXIT.failure) : exitCodeOf(signal));
      });
    });
  }

  /**
   * Starts a program without a shell. The program uses the standard streams of this process.
   * @param env the complete environment of the program
   * @param onStart called with the id of the process group, before this process handles any other event. The
   *   program may already run
   */
  static async start(
    command: readonly string[],
    env: Environment,
    onStart: (group: number) => void,
  ): Promise<CommandProcess> {
    const [program = '', ...args] = command;
    const child = withoutStrays((rest) =>
      spawn(program, args, {
        stdio: ['inherit', 'inherit', 'inherit', ...rest],
        detached: true,
        env,
      }),
    );
    if (child.pid !== undefined) onStart(child.pid);
    return new Promise((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) => {
        reject(notStarted(program, error));
      });
      if (child.pid !== undefined) resolve(new CommandProcess(child.pid, child));
    });
  }

  /** Sends a signal to all processes of the command's process group. Does nothing when no process is left. */
  signal(signal: NodeJS.Signals): void {
    this.#send(signal);
  }

  /** Whether any process of the command's process group is left. */
  get alive(): boolean {
    return this.#send(0);
  }

  #send(signal: NodeJS.Signals | 0): boolean {
    try {
      process.kill(-this.group, signal);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ESRCH') return false;
      // The command's process group has a process that runs as another user (setuid), so this process may not
      // signal it.
      if (code === 'EPERM') return true;
      throw error;
    }
  }
}

function notStarted(program: string, cause: NodeJS.ErrnoException): Failure {
  const missing = cause.code === 'ENOENT';
  const why = missing ? 'the program is not in PATH' : (cause.code ?? cause.message);
  return new Failure(`cannot start ${JSON.stringify(program)}: ${why}`, {
    exitCode: missing ? EXIT.notFound : EXIT.notExecutable,
    cause,
  });
}
