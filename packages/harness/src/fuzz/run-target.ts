import { Worker } from 'node:worker_threads';
import type { FuzzMessage, FuzzThreadData } from './fuzz-thread.ts';

/** Options of one run of the fuzzer. */
export interface FuzzOptions {
  readonly seconds: number;
  /** The seed of the first batch. The same seed generates the same inputs. */
  readonly seed: number;
}

/** The result of one run of the fuzzer. */
export interface FuzzReport {
  readonly executions: number;
  /** Number of batches of inputs in the run. Each batch has a seed of its own. */
  readonly seeds: number;
  readonly growthBytes: number;
  /** The defect that was found, with the seed that repeats it; `undefined` when there was none. */
  readonly finding: string | undefined;
}

const MAX_INPUT_BYTES = 1 << 20;
const MAX_HEAP_MB = 512;
// An input that takes longer than this counts as stuck. One input takes microseconds, or milliseconds over a socket, but a machine under load may
// stop the thread for seconds.
const STEP_LIMIT_MS = 20_000;
const READ_INTERVAL_MS = 500;

/**
 * Fuzzes a target in a thread of its own until the time is over or a defect is found. Defects are: an error
 * that the target does not allow, an uncaught error, an input that takes more than 20 s, or a heap of more
 * than 512 MB.
 * @param module URL of the module that exports the target
 */
export async function runTarget(module: string, options: FuzzOptions): Promise<FuzzReport> {
  const progress = new Int32Array(new SharedArrayBuffer(4));
  const current = new Uint8Array(new SharedArrayBuffer(4 + MAX_INPUT_BYTES));
  const workerData: FuzzThreadData = { ...options, module, progress, current };
  const worker = new Worker(new URL('fuzz-thread.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const findings: string[] = [];
  let result = { seeds: 0, growthBytes: 0 };
  worker.on('message', (message: FuzzMessage) => {
    if (message.type === 'done') result = message;
    else findings.push(`seed ${message.seed}: ${message.text}\ninput: ${currentInput(current)}`);
  });
  worker.on('error', (error) => findings.push(`${String(error)}\ninput: ${currentInput(current)}`));
  const stopWatching = watch(progress, () => {
    findings.push(`an input takes more than ${STEP_LIMIT_MS} ms: ${currentInput(current)}`);
    void worker.terminate();
  });
  await new Promise((resolve) => worker.once('exit', resolve));
  stopWatching();
  return { executions: Atomics.load(progress, 0), ...result, finding: findings[0] };
}

/**
 * Watches the number of inputs that the thread has run. Calls `onStandstill` once when the number has not
 * grown for 20 s.
 */
function watch(progress: Int32Array, onStandstill: () => void): () => void {
  let seen = 0;
  let seenAt = performance.now();
  const timer = setInterval(() => {
    const executions = Atomics.load(progress, 0);
    if (executions !== seen) {
      seen = executions;
      seenAt = performance.now();
    } else if (performance.now() - seenAt > STEP_LIMIT_MS) {
      clearInterval(timer);
      onStandstill();
    }
  }, READ_INTERVAL_MS);
  return () => clearInterval(timer);
}

function currentInput(current: Uint8Array): string {
  const bytes = Buffer.from(current);
  return bytes.subarray(4, 4 + bytes.readUInt32BE(0)).toString('base64');
}
