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
}

const OPTIONS: KnownOptions<CloseOnSignalsOptions> = { drainMs: 'number', signals: 'any' };

/** Number of closings in progress in this process. The last one to finish lets the signal take effect. */
let underWay = 0;

/**
 * Closes the clients when the process receives a termination signal. Running work is told to stop and awaited, waits end with `CLOSED`, and holds
 * are released. Then the signal takes its default effect, unless the process has other listeners for it. The process dies by the signal, and its
 * parent sees that (exit code 143 or 130 in a shell). A second signal takes effect at once. Works in the main thread only, because Node workers
 * receive no signals.
 * @returns a function that removes the signal handlers
 * @throws {QueueLockError} `INVALID_ARGUMENT` when a signal name or `drainMs` is invalid
 * @example
 * ```ts
 * const locks = createLockClient(backend);
 * closeOnSignals(locks, { drainMs: 5_000 });
 * ```
 */
export function closeOnSignals(
  clients: LockClient | readonly LockClient[],
  options?: CloseOnSignalsOptions,
): () => void {
  const checked = checkedOptions('options of closeOnSignals', options, OPTIONS);
  const { drainMs = 10_000 } = checked;
  const signals = namesOf(checked.signals ?? ['SIGTERM', 'SIGINT']);
  checkDrain(drainMs);
  const all = Array.isArray(clients) ? (clients as readonly LockClient[]) : [clients as LockClient];
  const takeBack = (): void => {
    for (const signal of signals) process.off(signal, close);
  };
  function close(signal: NodeJS.Signals): void {
    takeBack();
    underWay += 1;
    void Promise.allSettled(all.map((client) => client.close({ drainMs }))).then(() => {
      underWay -= 1;
      if (underWay === 0 && process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    });
  }
  for (const signal of signals) process.on(signal, close);
  return takeBack;
}

function namesOf(signals: readonly string[]): readonly string[] {
  const isList: boolean = Array.isArray(signals) && signals.length > 0;
  if (isList && signals.every((name) => /^SIG[A-Z0-9]+$/.test(name))) return signals;
  throw invalidArgument('signals', signals, 'is a list of names of signals');
}
