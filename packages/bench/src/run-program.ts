import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { CommandLine } from '../../../integration/interop/programs.ts';
import { dyingWithParent } from '@queuelock/harness/services/child';

/** One line that a client program printed, parsed from JSON: its progress or its result. */
export type ProgramOutput = Readonly<Record<string, unknown>>;

export interface Order {
  readonly command: CommandLine;
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly withinMs: number;
  /**
   * Called when the program prints `ready` or `connected` and waits. The program continues when the returned
   * promise has resolved.
   */
  readonly atStop: (output: ProgramOutput) => Promise<void>;
}

/**
 * Runs a client program to its end, and resolves with its last line. Rejects with the program's stderr if it
 * fails.
 */
export async function runProgram({ command, words, env, withinMs, atStop }: Order): Promise<ProgramOutput> {
  const [program, ...first] = command;
  const own = await dyingWithParent({ program, args: [...first, ...words] });
  const child = spawn(own.program, own.args, { env: { ...process.env, ...env }, stdio: 'pipe' });
  const waitLimit = setTimeout(() => child.kill('SIGKILL'), withinMs);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  // Ignores the error of writing to a program that has died, because its exit is reported anyway.
  child.stdin.on('error', () => undefined);
  let last: ProgramOutput | undefined;
  const ended = endOf(child);
  for await (const line of createInterface(child.stdout)) {
    const output = parse(line);
    if (output === undefined) continue;
    if ('ready' in output || 'connected' in output) {
      await atStop(output);
      child.stdin.write('\n');
    } else last = output;
  }
  const ending = await ended;
  clearTimeout(waitLimit);
  if (ending !== 'code 0' || last === undefined) {
    const why = ending === 'signal SIGKILL' ? `not within ${withinMs / 1_000} s` : `ended with ${ending}`;
    throw new Error([why, ...stderr.trim().split('\n').slice(0, 12)].join('\n  '));
  }
  return last;
}

async function endOf(child: ChildProcess): Promise<string> {
  const gone = once(child, 'close');
  await gone;
  return child.signalCode === null ? `code ${String(child.exitCode)}` : `signal ${child.signalCode}`;
}

function parse(line: string): ProgramOutput | undefined {
  if (!line.startsWith('{')) return undefined;
  const output: unknown = JSON.parse(line);
  return typeof output === 'object' && output !== null ? { ...output } : undefined;
}
