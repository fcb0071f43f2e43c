import type { LockClient } from './api/api.ts';
import { checkedOptions, type KnownOptions } from './checks/checked-options.ts';
import { invalidArgument } from './api/errors.ts';
import { checkDrain } from './checks/arguments.ts';

/** How a process ends. */
export interface CloseOnSignalsOptions {
  /** Longest time for the works that run, as in `LockClient.close`, in milliseconds. Default 10,000; below the grace period of whoever sends the signal. */
  readonly drainMs?: number;
  /** Default: `SIGTERM` and `SIGINT`. */
  readonly signals?: readonly string[];
}

const OPTIONS: KnownOptions<CloseOnSignalsOptions> = { drainMs: 'number', signals: 'any' };

/** What is under way in this process: the last that has closed lets the signal have its effect. */
let underWay = 0;

/**
 * Closes the clients when the process is told to end: works are told to stop and waited for, waits end with `CLOSED`, what is held is
 * released. Then the signal has the effect that it has without this, unless somebody else listens to it: the process dies by it, and whoever
 * started it sees that (exit code 143 or 130 in a shell). A second signal has its effect at once.
 * In the main thread only: a worker of Node gets no signals.
 * @returns takes it back
 * @throws {QueueLockError} `INVALID_ARGUMENT`
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
