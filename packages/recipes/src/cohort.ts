import { QueueLockError, type LockClient, type Ownership, type WorkOptions } from '@queuelock/core';
import { WORK_OPTIONS, checkedOptions, waitOf, workUnder, type KnownOptions } from '@queuelock/core/backend';
import { wholeNumber } from './arguments.ts';
import type { Cohort, CohortHold, CohortOptions } from './cohort-api.ts';
import { machineClock } from './clock.ts';
import { CohortEntry, type EntryTerms } from './cohort-entry.ts';
import { LocalHold } from './cohort-hold.ts';
import { LocalLine } from './cohort-line.ts';
import { WAIT_OPTIONS, type WaitOptions } from './patience.ts';

/**
 * Lets many acquirers of one process share one entry in the queue: they stand in a line of their own, first come, first served, and the
 * hold goes from one to the next without a word to the server. After `handOffs` times in a row it is given back, and a new entry joins
 * behind all others who wait: nobody elsewhere is passed by more than so many, and a hand-off costs nothing in between.
 * With `handOffs: 0` each acquirer has the lock by itself, with one entry in line for all who wait.
 *
 * When the hold is lost, the acquirer that has it is told by its `signal` in the same moment; those who wait go on with a new
 * entry. When the *wait* of the entry fails (session lost, evicted, server unreachable), all who wait are refused with its error.
 *
 * Acquirers that follow each other under one entry have the same fencing token, so a fenced store must accept a token that is equal
 * to the largest it has seen, as those of `@queuelock/fencing` do without `once`; a late write of an earlier acquirer of the *same* process is not
 * fenced off from a later one's.
 *
 * Deadlock detection sees the entry, not who waits behind it: it tells of no holds.
 *
 * After lock cohorting (Dice, Marathe, Shavit: Lock Cohorting, PPoPP 2012): a global lock, a local one, and a bound on passing locally.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a number of hand-offs that is no whole number from 0 up
 */
export function cohort(client: LockClient, name: string, options?: CohortOptions): Cohort {
  const { handOffs = 16, ...label } = checkedOptions('options of cohort', options, OPTIONS);
  wholeNumber('handOffs', handOffs, { min: 0 });
  // Throws for a name or a label that no claim could have.
  void client.claim(name, label);
  return new EntrySharing(client, { name, label }, handOffs);
}

const RUN_OPTIONS = { ...WAIT_OPTIONS, ...WORK_OPTIONS };
const OPTIONS: KnownOptions<CohortOptions> = { handOffs: 'number', owner: 'string', metadata: 'object' };

/** The decisions: who has the hold, and whether there is an entry. There is one exactly as long as somebody waits or holds. */
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
    const what = `${JSON.stringify(this.name)}: the turn did not come`;
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

  /** Why nobody knows whose turn it is, if that is so. */
  get trouble(): unknown {
    return this.#entry?.trouble;
  }

  /** What follows from who waits and who holds; called after every change. */
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

  /** To the next here, or back. The new entry need not wait until the old one is gone: it is behind all others either way. */
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
    // Whoever hears of it may acquire again at once. The claim ends by itself, when it has found out who removed the entry.
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
