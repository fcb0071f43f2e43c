import { anySignal } from '../base/checked-signal.ts';
import { invalidArgument } from '../api/errors.ts';
import type { WorkOptions } from '../api/options.ts';
import type { WaitLimit } from './wait-limit.ts';

/** Splits the options of a call into those for its wait and those for its work. `stop` applies to both. */
export function waitOf<Options extends WaitLimit & WorkOptions>(
  options: Options,
): { readonly wait: Omit<Options, keyof WorkOptions>; readonly limits: WorkOptions } {
  const { stop, workTimeoutMs, ...wait } = options;
  if (stop === undefined && workTimeoutMs === undefined) return { wait, limits: {} };
  checkWorkOptions(options);
  const limits = { ...(stop ? { stop } : {}), ...(workTimeoutMs === undefined ? {} : { workTimeoutMs }) };
  if (!stop) return { wait, limits };
  const { signal } = options;
  // Does not combine an invalid signal with `stop`, because the check of the wait options rejects it later.
  if (signal !== undefined && !(signal instanceof AbortSignal)) return { wait, limits };
  const ends = signal ? anySignal([signal, stop]) : stop;
  return { wait: { ...wait, signal: ends }, limits };
}

/**
 * Checks the options that stop work.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when `stop` is not a signal, or `workTimeoutMs` is not a valid duration
 */
export function checkWorkOptions({ stop, workTimeoutMs }: WorkOptions): void {
  if (stop !== undefined && !(stop instanceof AbortSignal))
    throw invalidArgument('stop', stop, 'is an AbortSignal');
  if (workTimeoutMs === undefined || workTimeoutMs === Infinity) return;
  if (workTimeoutMs >= 1 && workTimeoutMs <= MAX_TIMER_MS) return;
  const rule = `is a number of milliseconds from 1 to ${String(MAX_TIMER_MS)}`;
  throw invalidArgument('workTimeoutMs', workTimeoutMs, rule);
}

// Longest timeout in milliseconds. `setTimeout` fires at once for a longer one.
const MAX_TIMER_MS = 2_147_483_647;
