import { parentPort, workerData } from 'node:worker_threads';
import fc from 'fast-check';
import { inputs } from './mutations.ts';
import type { OpenTarget } from './target.ts';

/** Data that the thread receives from its parent. */
export interface FuzzThreadData {
  /** URL of the module that exports the fuzz target (the code under test) as `open`. */
  readonly module: string;
  /** The seed of the first batch of inputs. The seed grows by 1 with each batch. */
  readonly seed: number;
  readonly seconds: number;
  /**
   * The number of inputs that the thread has run. If it does not grow, the parent knows that the thread is
   * stuck.
   */
  readonly progress: Int32Array<SharedArrayBuffer>;
  /**
   * The length of the current input in the first four bytes, followed by the input. The parent reads it when
   * the thread is stuck.
   */
  readonly current: Uint8Array<SharedArrayBuffer>;
}

/** Messages from the thread to its parent. */
export type FuzzMessage =
  | { readonly type: 'done'; readonly seeds: number; readonly growthBytes: number }
  | { readonly type: 'finding'; readonly seed: number; readonly text: string };

const LENGTH_BYTES = 4;
const { module, seed, seconds, progress, current } = workerData as FuzzThreadData;
const length = new DataView(current.buffer);
const post = (message: FuzzMessage): void => parentPort?.postMessage(message);

let batchSeed = seed;
const fail = (error: unknown): void => {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  post({ type: 'finding', seed: batchSeed, text: stack ?? message });
};
// Counts errors that reach no promise and no caller as findings, because they would end an application.
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
// Counts Node's warning about an invalid delay as a finding. Node replaces a delay that is too long or no
// number by 1 ms, so that repeated timers become a busy loop.
process.on('warning', (warning) => {
  if (/^Timeout/.test(warning.name)) fail(warning);
});

/** Stores the input in shared memory, so that the parent can report it if the code never returns. */
function note(input: Buffer): void {
  const bytes = input.subarray(0, current.length - LENGTH_BYTES);
  length.setUint32(0, bytes.length);
  current.set(bytes, LENGTH_BYTES);
  Atomics.add(progress, 0, 1);
}

function usedBytes(): number {
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}

const { open } = (await import(module)) as { readonly open: OpenTarget };
const { corpus, isJson = false, batchSize = 2_000, run, close } = await open();
const property = fc.asyncProperty(inputs(corpus, isJson), async (input) => {
  note(input);
  await run(input);
});
const end = performance.now() + seconds * 1_000;
let atFirst: number | undefined;
try {
  for (const example of corpus) await run(example);
  do {
    const { failed, counterexample, errorInstance } = await fc.check(property, {
      seed: batchSeed,
      numRuns: batchSize,
    });
    if (failed) {
      note(counterexample?.[0] ?? Buffer.alloc(0));
      throw errorInstance;
    }
    batchSeed += 1;
    globalThis.gc?.();
    // Measures the growth of the heap from the end of the third batch of inputs on, because the first batches
    // fill caches.
    if (batchSeed - seed === 3) atFirst = usedBytes();
  } while (performance.now() < end);
  await close?.();
  globalThis.gc?.();
  post({ type: 'done', seeds: batchSeed - seed, growthBytes: usedBytes() - (atFirst ?? usedBytes()) });
} catch (error) {
  fail(error);
}
parentPort?.close();
