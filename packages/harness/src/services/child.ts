import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { findProgram } from './programs.ts';

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface ChildPlace {
  readonly directory: string;
  /**
   * File to which the child's output is appended. It is not a pipe, because the child would stop when no
   * process reads a full pipe.
   */
  readonly log: string;
}

const STOP_WITHIN_MS = 2_000;

/**
 * Starts a child that does not keep this process alive.
 * @param started is called with the child immediately after its start, so that the caller can end it even if
 * this call rejects
 */
export async function spawnChild(
  command: Command,
  { directory, log }: ChildPlace,
  started: (child: ChildProcess) => void,
): Promise<ChildProcess> {
  const { program, args } = await dyingWithParent(command);
  const output = openSync(log, 'a');
  try {
    const env = { ...process.env, ...command.env };
    const child = spawn(program, args, { cwd: directory, env, stdio: ['ignore', output, output] });
    started(child);
    await once(child, 'spawn');
    child.unref();
    return child;
  } finally {
    closeSync(output);
  }
}

/** Ends the child with the signal and resolves when it has ended. Sends SIGKILL when it takes longer than 2 s. */
export async function endChild(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (!isRunning(child)) return;
  child.ref();
  const gone = once(child, 'exit');
  child.kill(signal);
  // Resumes the child, because a frozen process does not handle SIGTERM.
  child.kill('SIGCONT');
  const timeout = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await gone;
  clearTimeout(timeout);
}

export function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** Describes how a child ended: `exit code 2` or `signal SIGKILL`. */
export function endingOf({ exitCode, signalCode }: ChildProcess): string {
  return signalCode === null ? `exit code ${String(exitCode)}` : `signal ${signalCode}`;
}

// Returns a command that runs the program through setpriv(1) on Linux. The kernel then kills the program when
// this process dies. A killed process cannot end its children itself, because its exit handlers do not run.
export async function dyingWithParent({ program, args }: Command): Promise<Command> {
  const setpriv = process.platform === 'linux' ? await findProgram('setpriv') : undefined;
  if (setpriv === undefined) return { program, args };
  return { program: setpriv, args: ['--pdeathsig', 'KILL', '--', program, ...args] };
}
