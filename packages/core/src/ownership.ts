import type { Ownership } from './api.ts';
import { checkedSignal } from './checked-signal.ts';
import type { Entry } from './entry.ts';
import { QueueLockError, isQueueLockError, type RevocationReason } from './errors.ts';
import type { Liveness } from './liveness.ts';
import { notEnoughTime } from './grant.ts';
import { Subject, type Observable } from './rx.ts';

/**
 * Chapter 4: the right to act. Starts when the turn has come; ends once, by `release`, or by `revoke` when the session or
 * the entry is lost.
 */
export class HeldOwnership implements Ownership {
  readonly name: string;
  readonly #entry: Entry;
  readonly #liveness: Liveness;
  readonly #loss = new AbortController();
  readonly #released$ = new Subject<void>();
  #signal: AbortSignal | undefined;
  #end: 'released' | 'lost' | undefined;
  #lossError: QueueLockError | undefined;

  constructor(name: string, entry: Entry, liveness: Liveness) {
    this.name = name;
    this.#entry = entry;
    this.#liveness = liveness;
  }

  get key(): string {
    return this.#entry.placement.key;
  }

  get order(): bigint {
    return this.#entry.placement.order;
  }

  get token(): bigint {
    return this.#entry.placement.token;
  }

  get remainingMs(): number {
    if (this.#end) return 0;
    const left = this.#liveness.remainingMs;
    // The end of a session is told to its holds one after the other; whoever looks does not wait for that.
    if (left === 0) this.revoke(this.#liveness.ending.reason);
    return left;
  }

  get held(): boolean {
    return this.remainingMs > 0;
  }

  throwIfLost(needsMs = 0): void {
    const left = this.remainingMs;
    if (left === 0)
      throw (
        this.#lossError ?? new QueueLockError('OWNERSHIP_LOST', `${JSON.stringify(this.name)} was released`)
      );
    // Also NaN is no time to count on.
    if (!(left >= needsMs)) throw notEnoughTime(this.name, needsMs, left);
  }

  get signal(): AbortSignal {
    this.#signal ??= checkedSignal(this.#loss, () => this.held);
    return this.#signal;
  }

  /** Emits and completes when a release was confirmed. */
  get released$(): Observable<void> {
    return this.#released$;
  }

  /** Whether it was given up by its owner: what happens to the session later is no loss then. */
  get givenUp(): boolean {
    return this.#end === 'released';
  }

  async release(): Promise<void> {
    this.#end ??= 'released';
    await this.#entry.leave();
    if (this.#end === 'released') {
      this.#released$.next();
      this.#released$.complete();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  /** Ends it against its owner's will, unless it has ended; answers the error that its signal carries. */
  revoke(cause: unknown): QueueLockError {
    if (this.#lossError) return this.#lossError;
    const reason = reasonOf(cause);
    this.#lossError = new QueueLockError(
      'OWNERSHIP_LOST',
      `${JSON.stringify(this.name)}: ${SENTENCE[reason]}`,
      { cause, reason },
    );
    if (!this.#end) {
      this.#end = 'lost';
      this.#loss.abort(this.#lossError);
    }
    return this.#lossError;
  }
}

const SENTENCE: Record<RevocationReason, string> = {
  'session-lost': 'the session was lost on the server, and every entry with it',
  'in-doubt-too-long':
    'no heartbeat was confirmed in time, so the server may have granted the lock to the next',
  'entry-removed': 'somebody else removed the entry from the queue',
  'client-closed': 'the client was closed while it held the lock',
};

function reasonOf(cause: unknown): RevocationReason {
  if (!isQueueLockError(cause)) return 'session-lost';
  return cause.reason ?? (cause.code === 'ENTRY_LOST' ? 'entry-removed' : 'session-lost');
}
