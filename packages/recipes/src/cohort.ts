import { QueueLockError, type LockClient, type Ownership, type WorkOptions } from '@queuelock/core';
import { WORK_OPTIONS, checkedOptions, waitOf, workUnder, type KnownOptions } from '@queuelock/core/backend';
import { wholeNumber } from './arguments.ts';
import type { Cohort, CohortHold, CohortOptions } from './cohort-api.ts';
import { machineClock } from './clock.ts';
import { CohortEntry, type EntryTerms } from './cohort-entry.ts';
import { LocalHold } from './cohort-hold.ts';
import { LocalLine } from './cohort-line.ts';
import { WAIT_OPTIONS, type WaitOptions } from './wait-limit.ts';

/**
 * Returns a cohort: many acquirers of one process share one entry in the queue. They wait in a local queue, first come, first served, and
 * the hold passes from one to the next without a request to the server. After `handOffs` times in a row the hold is released, and a new
 * entry joins behind all other waiters. So no waiter of another process is passed more than `handOffs` times. With `handOffs: 0` each
 * acquirer takes the lock separately, with one entry in the queue for all local waiters.
 *
 * When the hold is lost, the `signal` of the acquirer that has it aborts synchronously, and the local waiters continue with a new entry.
 * When the wait of the entry fails (session lost, evicted, server unreachable), all local waiters reject with its error.
 *
 * Acquirers that follow each other under one entry have the same fencing token. A fenced store must therefore accept a token that equals
 * the largest it has seen. The guards of `@queuelock/fencing` do so without `once`. A late write of an earlier acquirer of the same process
 * is not fenced off from a later acquirer.
 *
 * Deadlock detection sees the shared entry, but not the local waiters: the entry does not list the other locks that they hold.
 *
 * It follows lock cohorting (Dice, Marathe, Shavit: Lock Cohorting, PPoPP 2012): a global lock, a local lock, and a bound on local
 * hand-offs.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a number of hand-offs that is not a whole number from 0 up
 * @example
 * const cache = cohort(client, 'cache', { handOffs: 16 });
 * await cache.run(async ({ token }, stop) => {
 *   await refresh({ token, signal: stop });
 * });
 */
export function cohort(client: LockClient, name: string, options?: CohortOptions): Cohort {
  const { handOffs = 16, ...label } = checkedOptions('options of cohort', options, OPTIONS);
  wholeNumber('handOffs', handOffs, { min: 0 });
  // Creates this claim only to validate the name and the label. A claim without a subscription sends nothing.
  void client.claim(name, label);
  return new EntrySharing(client, { name, label }, handOffs);
}

const RUN_OPTIONS = { ...WAIT_OPTIONS, ...WORK_OPTIONS };
const OPTIONS: KnownOptions<CohortOptions> = { handOffs: 'number', owner: 'string', metadata: 'object' };

/**
 * Manages the hold of one cohort: which local acquirer has it, and whether the cohort has an entry in the
 * queue. The cohort has an entry exactly while an acquirer waits or holds.
 */
class EntrySharing implements Cohort {
  readonly name: string;
  readonly #client: LockClient;
  readonly #terms: EntryTerms;
  readonly #handOffs: number;
  readonly #line = new LocalLine<LocalHold>(() => this.#settle());
  #entry: CohortEntry | undefined;
  #holder: LocalHold | undefined;
  #closedBy: QueueLockError | undefined;
  #closed: Promise<void> | undefined;

  constructor(client: LockClient, terms: EntryTerms, handOffs: number) {
    this.name = terms.name;
    this.#client = client;
    this.#terms = terms;
    this.#handOffs = handOffs;
  }

  async acquire(options: WaitOptions = {}): Promise<CohortHold> {
    if (this.#closedBy) throw this.#closedBy;
    const what = `${JSON.stringify(this.name)}: not admitted`;
    const turn = this.#line.wait(options, { what, sight: this });
    this.#settle();
    return turn;
  }

  async run<T>(
    work: (hold: CohortHold, stop: AbortSignal) => T | PromiseLike<T>,
    options?: WaitOptions & WorkOptions,
  ): Promise<Awaited<T>> {
    const { wait, limits } = waitOf(checkedOptions('options of run', options, RUN_OPTIONS));
    const hold = await this.acquire(wait);
    return workUnder(hold, {
      what: `the lock ${JSON.stringify(this.name)}`,
      work,
      clock: machineClock,
      ...limits,
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Returns the error of the shared entry while the store does not respond, because the client then cannot
   * know whether the entry is granted. `undefined` otherwise.
   */
  get failure(): unknown {
    return this.#entry?.failure;
  }

  /**
   * Updates the cohort's entry in the queue after every change. Does nothing while an acquirer holds. Without
   * local waiters, the entry leaves. For the first local waiter, an entry joins. When the entry is granted,
   * the next local waiter is admitted.
   */
  #settle(): void {
    if (this.#holder) return;
    if (this.#line.isEmpty) void this.#dropEntry();
    else if (!this.#entry) this.#join();
    else if (this.#entry.ownership) this.#admit(this.#entry.ownership);
  }

  #join(): void {
    this.#entry = new CohortEntry();
    this.#entry.join(this.#client, this.#terms, {
      onHeld: () => this.#settle(),
      onLost: (reason) => this.#lost(reason),
      onFailed: (error) => {
        void this.#dropEntry();
        this.#line.refuse(error);
      },
    });
  }

  #admit(shared: Ownership): void {
    this.#holder = new LocalHold(shared, () => this.#handOn());
    this.#line.admit(this.#holder);
  }

  /**
   * Passes the hold to the next local acquirer. Without one, or after `handOffs` times in a row, releases the
   * entry. If local waiters remain, a new entry joins at once. It need not wait until the old entry is removed,
   * because it is behind all other waiters in either case.
   */
  async #handOn(): Promise<void> {
    this.#holder = undefined;
    const entry = this.#entry;
    if (!entry) return;
    entry.handOffs += 1;
    if (entry.handOffs > this.#handOffs) this.#entry = undefined;
    const isGivenBack = this.#line.isEmpty || !this.#entry;
    this.#settle();
    if (isGivenBack) await entry.leave();
  }

  #lost(reason: unknown): void {
    const holder = this.#holder;
    // Clears the fields for holder and entry before it notifies the holder, because the holder may acquire
    // again at once. Does not end the claim of the lost entry: that claim ends by itself, after it has read
    // which client removed the entry.
    this.#holder = undefined;
    this.#entry = undefined;
    holder?.revoke(reason);
    this.#settle();
  }

  async #dropEntry(): Promise<void> {
    const entry = this.#entry;
    this.#entry = undefined;
    await entry?.leave();
  }

  async #close(): Promise<void> {
    const name = JSON.stringify(this.name);
    const error = new QueueLockError('CLOSED', `the cohort of ${name} was closed`, {
      reason: 'client-closed',
    });
    this.#closedBy = error;
    this.#line.refuse(error);
    const holder = this.#holder;
    this.#holder = undefined;
    holder?.revoke(
      new QueueLockError('OWNERSHIP_LOST', `${name}: the cohort was closed while it held the lock`, {
        cause: error,
        reason: 'client-closed',
      }),
    );
    await this.#dropEntry();
  }
}
