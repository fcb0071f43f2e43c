import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { JOB_VARIABLE, type Job, type Line, type Outcome, type Refusal } from './job.ts';
import type { Runtime } from './runtimes.ts';

/** Time limit in milliseconds for the program to exit after its last line of output. */
const EXIT_MS = 60_000;

/** The results that the program on another runtime reported. */
export interface Report {
  readonly outcomes: readonly Outcome[];
  readonly refusal: Refusal | undefined;
}

/** Writes the program as one file into a directory in which the packages are installed. Returns its path. */
export async function writeProgram(directory: string): Promise<string> {
  const outfile = join(directory, 'facts.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('program.ts', import.meta.url))],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
    external: ['core', 'conformance', 'memory', 'zookeeper'].flatMap((name) => [
      `@queuelock/${name}`,
      `@queuelock/${name}/*`,
    ]),
  });
  return outfile;
}

/**
 * Runs the program of a job, and resolves with its results. Rejects when the program does not exit by itself
 * with code 0. So it also rejects when a timer or socket of a closed backend keeps the process alive.
 */
export async function runJob(runtime: Runtime, program: string, job: Job): Promise<Report> {
  const child = spawn(await runtime.program(), [...runtime.options, program], {
    cwd: dirname(program),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], [JOB_VARIABLE]: JSON.stringify(job) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close') as Promise<[code: number | null, signal: string | null]>;
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints = (complaints + chunk.toString()).slice(-4_000)));
  const outcomes: Outcome[] = [];
  let refusal: Refusal | undefined;
  let silence = setTimeout(() => undefined, 0);
  for await (const text of createInterface(child.stdout)) {
    const line = JSON.parse(text) as Line;
    if ('refusal' in line) refusal = line.refusal;
    else outcomes.push(line.outcome);
    clearTimeout(silence);
    silence = setTimeout(() => child.kill('SIGKILL'), EXIT_MS);
  }
  const [code, signal] = await closed;
  clearTimeout(silence);
  if (code !== 0)
    throw new Error(
      `${runtime.name} ended with ${String(signal ?? code)} after ${String(outcomes.length)} facts: ${complaints}`,
    );
  return { outcomes, refusal };
}
