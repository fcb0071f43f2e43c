import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { HeartbeatThreadData } from './heartbeat-thread.ts';

/** Options of Node that load modules before the program. */
const PRELOADS: ReadonlySet<string> = new Set([
  '--import',
  '--require',
  '-r',
  '--loader',
  '--experimental-loader',
]);

/**
 * Starts a heartbeat thread. Its program is beside this file with the same extension: `.js` in the built package, `.ts` in the sources.
 *
 * A built program runs without the preloads of the process, the modules that Node loads before its program. They would run a second time, and a
 * preload that listens on a port would then end the thread.
 */
export function startThread(workerData: HeartbeatThreadData): Worker {
  const options: WorkerOptions = { workerData, name: 'queuelock heartbeats' };
  // The TypeScript source of the heartbeat thread needs the loader that the process has.
  if (import.meta.url.endsWith('.ts')) return new Worker(program('ts'), options);
  try {
    return new Worker(program('js'), { ...options, execArgv: withoutPreloads(process.execArgv) });
  } catch {
    // Node refuses options of V8 and of the whole process, such as `--max-old-space-size`. They are in effect in all threads anyway.
    return new Worker(program('js'), { ...options, execArgv: [] });
  }
}

function program(extension: 'js' | 'ts'): URL {
  return new URL(`./heartbeat-thread.${extension}`, import.meta.url);
}

/** Returns the options of Node without those that load modules before the program. */
export function withoutPreloads(execArgv: readonly string[]): string[] {
  return execArgv.filter((argument, at) => {
    const [option = ''] = argument.split('=', 1);
    return !PRELOADS.has(option) && !PRELOADS.has(execArgv[at - 1] ?? '');
  });
}
