import type { LockClient } from './api/api.ts';
import { checkedOptions, type KnownOptions } from './checks/checked-options.ts';
import { invalidArgument } from './api/errors.ts';
import { checkDrain } from './checks/arguments.ts';

/** Options of `closeOnSignals`. */
export interface CloseOnSignalsOptions {
  /**
   * Maximum time to wait for running work, in milliseconds; see `LockClient.close`. Default 10,000. Keep it below the grace period of the process
   * manager that sends the signal.
   */
  readonly drainMs?: number;
  /** Signals to handle. Default: `SIGTERM` and `SIGINT`. */
  readonly signals?: readonly string[];
  /**
   * Runs once all clients are closed and before the process ends: closes HTTP servers, so that responses in progress arrive, or flushes logs. An error
   * is reported as a warning of the process.
   */
  readonly beforeExit?: (signal: string) => unknown;
  /** Maximum time to wait for `beforeExit`, in milliseconds. Default 5,000. */
  readonly beforeExitMs?: number;
}

const OPTIONS: KnownOptions<CloseOnSignalsOptions> = {
  drainMs: 'number',
  signals: 'any',
  beforeExit: 'function',
  beforeExitMs: 'number',
};

/**
 * A second signal within this time in milliseconds counts as the first one. On one Ctrl-C, both the terminal and the package manager may send a
 * signal.
 */
const SAME_REQUEST_MS = 500;

/** Number of signals whose shutdown is in progress in this process. The last one to finish lets the signal take its default effect. */
let underWay = 0;

/** Signal listeners that this module has added. All others belong to the application and its frameworks. */
const ownListeners = new Set<unknown>();

/**
 * Closes the clients when the process receives a termination signal. Running work is notified by its `stop` signal and awaited, waits end with
 * `CLOSED`, and holds are released. Then `beforeExit` runs, and the signal takes its default effect, unless the process has other listeners for it.
 * So the process dies by the signal, and its parent sees that (exit code 143 or 130 in a shell). Works in the main thread only, because Node workers
 * receive no signals. A second signal takes effect at once, with two exceptions. The same signal within 500 ms counts as the first one. If another
 * listener handles the signal too, one repetition of the signal is ignored, because frameworks such as NestJS raise the signal again after their own
 * shutdown.
 * @returns a function that removes the signal handlers
 * @throws {QueueLockError} `INVALID_ARGUMENT` when a signal name, `drainMs`, `beforeExit` or `beforeExitMs` is invalid
 * @example
 * ```ts
 * const locks = createLockClient(backend);
 * closeOnSignals(locks, { drainMs: 5_000, beforeExit: () => new Promise((closed) => server.close(closed)) });
 * ```
 */
export function closeOnSignals(
  clients: LockClient | readonly LockClient[],
  options?: CloseOnSignalsOptions,
): () => void {
  const checked = checkedOptions('options of closeOnSignals', options, OPTIONS);
  const { drainMs = 10_000, beforeExitMs = 5_000, beforeExit } = checked;
  const signals = namesOf(checked.signals ?? ['SIGTERM', 'SIGINT']);
  checkDrain(drainMs);
  checkDrain(beforeExitMs, 'beforeExitMs');
  const all = Array.isArray(clients) ? (clients as readonly LockClient[]) : [clients as LockClient];
  let first: FirstSignal | undefined;
  const takeBack = (): void => {
    for (const signal of signals) process.off(signal, listener);
    ownListeners.delete(listener);
  };
  const takeEffect = (signal: string): void => {
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  async function close(signal: string): Promise<void> {
    underWay += 1;
    await Promise.allSettled(all.map((client) => client.close({ drainMs })));
    if (beforeExit) await within(beforeExitMs, async () => beforeExit(signal));
    underWay -= 1;
    takeBack();
    if (underWay === 0) takeEffect(signal);
  }
  function listener(signal: string): void {
    if (first && isRepeated(first, signal)) return;
    if (first) {
      takeBack();
      takeEffect(signal);
      return;
    }
    const others = process.listeners(signal as NodeJS.Signals).filter((one) => !ownListeners.has(one));
    first = { signal, at: performance.now(), repetitionsLeft: others.length > 0 ? 1 : 0 };
    void close(signal);
  }
  ownListeners.add(listener);
  for (const signal of signals) process.on(signal, listener);
  return takeBack;
}

/** The signal that started the shutdown. */
interface FirstSignal {
  readonly signal: string;
  readonly at: number;
  /** How many repetitions of the signal by frameworks are still ignored. */
  repetitionsLeft: number;
}

function isRepeated(first: FirstSignal, signal: string): boolean {
  if (signal !== first.signal) return false;
  if (performance.now() - first.at < SAME_REQUEST_MS) return true;
  first.repetitionsLeft -= 1;
  return first.repetitionsLeft >= 0;
}

async function within(ms: number, work: () => Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  try {
    await Promise.race([work(), late]);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
    // Waits for one turn of the event loop, because Node prints the warning in the next tick and the process may end afterwards.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    clearTimeout(timer);
  }
}

function namesOf(signals: readonly string[]): readonly string[] {
  const isList: boolean = Array.isArray(signals) && signals.length > 0;
  if (isList && signals.every((name) => /^SIG[A-Z0-9]+$/.test(name))) return signals;
  throw invalidArgument('signals', signals, 'is a list of names of signals');
}
