import type { Ownership } from '@queuelock/core';
import {
  QueueLockError,
  checkedObject,
  checkedOptions,
  invalidArgument,
  type KnownOptions,
} from '@queuelock/core/backend';
import type { OncePer, SlotOptions, SlotOutcome } from '@queuelock/recipes';
import type { TickJob, TickJobOptions, TickWork } from './tick-job-api.ts';

const OPTIONS: KnownOptions<TickJobOptions> = {
  signal: 'any',
  timeoutMs: 'number',
  workTimeoutMs: 'number',
  maxWaitingTicks: 'number',
  onOutcome: 'function',
  onError: 'function',
};
const DEFAULT_WAITING_TICKS = 16;
const MAX_WAITING_TICKS = 10_000;

/**
 * Returns a job whose work is done once per tick, by one of all processes that schedule it. Each process
 * keeps its own scheduler. When the schedulers fire, the first process that enters the queue of the job does
 * the work. The other processes get an outcome that names this process. The tick is the scheduled time. So a
 * timer that fires late, or a process with a slightly wrong clock, does not repeat the work of another process.
 *
 * Runs of one job do not overlap: while the work of a tick runs, the next tick waits.
 *
 * Not promised:
 * - With `at-most-once`, that a tick is done if its process dies after it recorded the tick. With
 *   `at-least-once` another process repeats it.
 * - A tick for which no scheduler fires, because all processes are down or blocked. Missed ticks are not
 *   repeated later.
 * - That a paused process writes nothing after it lost the lock. Only a resource that compares fencing tokens
 *   rejects such writes.
 * @param once the name of the job and its guarantee. No other job may have that name
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a bad option
 * @example
 * const report = oncePerTick(oncePer(locks, 'daily-report'), async (tick, { token }, stop) => {
 *   await sendReport({ day: tick, token, signal: stop });
 * });
 * new Cron('0 3 * * *', { timezone: 'Europe/Berlin', catch: true }, fromCroner(report));
 */
export function oncePerTick<T>(
  once: OncePer,
  work: TickWork<T>,
  options?: TickJobOptions<Awaited<T>>,
): TickJob<Awaited<T>> {
  if (typeof checkedObject('once', once).run !== 'function')
    throw invalidArgument('once', once, 'is made by oncePer');
  if (typeof work !== 'function') throw invalidArgument('work', work, 'is a function');
  const checked = checkedOptions(
    'options of oncePerTick',
    options,
    OPTIONS as KnownOptions<TickJobOptions<Awaited<T>>>,
  );
  const { maxWaitingTicks = DEFAULT_WAITING_TICKS } = checked;
  if (!Number.isInteger(maxWaitingTicks) || maxWaitingTicks < 1 || maxWaitingTicks > MAX_WAITING_TICKS)
    throw invalidArgument(
      'maxWaitingTicks',
      maxWaitingTicks,
      `is a whole number from 1 to ${MAX_WAITING_TICKS}`,
    );
  return new TickByTick(once, work, { ...checked, maxWaitingTicks });
}

type Settings<T> = TickJobOptions<Awaited<T>> & { readonly maxWaitingTicks: number };

class TickByTick<T> implements TickJob<Awaited<T>> {
  readonly #once: OncePer;
  readonly #work: TickWork<T>;
  readonly #settings: Settings<T>;
  readonly #limits: SlotOptions;
  #waiting = 0;

  constructor(once: OncePer, work: TickWork<T>, settings: Settings<T>) {
    const { signal, timeoutMs, workTimeoutMs } = settings;
    this.#once = once;
    this.#work = work;
    this.#settings = settings;
    this.#limits = {
      ...(signal && { signal }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(workTimeoutMs !== undefined && { workTimeoutMs }),
    };
  }

  get name(): string {
    return this.#once.name;
  }

  async run(tick: Date): Promise<SlotOutcome<Awaited<T>>> {
    if (!(tick instanceof Date) || Number.isNaN(tick.getTime()))
      throw invalidArgument('tick', tick, 'is a valid Date, the scheduled time of the tick');
    const { maxWaitingTicks } = this.#settings;
    if (this.#waiting >= maxWaitingTicks)
      throw new QueueLockError(
        'QUEUE_FULL',
        `${maxWaitingTicks} ticks of "${this.name}" wait in this process already`,
      );
    const end = this.#beginWait();
    try {
      const underHold = (ownership: Ownership, stop: AbortSignal): T | PromiseLike<T> => {
        end();
        return this.#work(tick, ownership, stop);
      };
      return await this.#once.run(tick, underHold, this.#limits);
    } finally {
      end();
    }
  }

  async handle(tick: Date): Promise<void> {
    const { signal, onError, onOutcome } = this.#settings;
    let outcome: SlotOutcome<Awaited<T>>;
    try {
      outcome = await this.run(tick);
    } catch (error) {
      if (signal?.aborted === true && error === signal.reason) return;
      if (!onError) throw error;
      onError(error, tick);
      return;
    }
    onOutcome?.(outcome, tick);
  }

  /**
   * Counts a tick that waits. Returns a function that ends the wait of this tick. Only the first call of that
   * function has an effect.
   */
  #beginWait(): () => void {
    let isWaiting = true;
    this.#waiting += 1;
    return () => {
      if (isWaiting) this.#waiting -= 1;
      isWaiting = false;
    };
  }
}
