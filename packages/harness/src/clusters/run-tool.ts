import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Command } from '../services/child.ts';
import { NotHere } from '../services/service.ts';

/**
 * Runs a program to its end and writes `input` to it. When the program fails, rejects with `NotHere` and its
 * error output.
 */
export async function runTool({ program, args }: Command, input = ''): Promise<void> {
  const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'pipe'] });
  const printed: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  // Ignores errors of writing to the program's input: a program that ends without reading it reports its
  // reason itself.
  child.stdin.on('error', () => undefined).end(input);
  const code: unknown = await once(child, 'close').then(([exitCode]) => exitCode as unknown, String);
  if (code !== 0) throw new NotHere([program, ...args, '-', String(code), printed.join('').trim()].join(' '));
}
