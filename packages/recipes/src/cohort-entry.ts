import {
  QueueLockError,
  type ClaimOptions,
  type LockClient,
  type Ownership,
  type SessionState,
} from '@queuelock/core';
import { Subscription } from './rx.ts';
import { withoutResponse } from './sight.ts';

/** Callbacks of the entry that a cohort has in the queue. None is called after `leave`. */
export interface EntryEvents {
  /** Called when the cohort's entry is granted. */
  readonly onHeld: () => void;
  /** Called when the granted entry is lost, synchronously with the loss. */
  readonly onLost: (reason: unknown) => void;
  /** Called when the claim of the cohort's entry has ended without a grant. */
  readonly onFailed: (error: unknown) => void;
}

/** Name of the lock, and the label with which the cohort's entry joins the queue. */
export interface EntryTerms {
  readonly name: string;
  readonly label: Pick<ClaimOptions, 'owner' | 'metadata'>;
}

/** The one entry that a cohort has in the queue, until it leaves. */
export class CohortEntry {
  /** The ownership of the lock. `undefined` until the entry is granted. */
  ownership: Ownership | undefined;
  /** Number of times that the hold has passed from one local acquirer to the next. */
  handOffs = 0;
  readonly #claim = new Subscription();
  #isInLine = false;
  #session: SessionState['status'] = 'idle';

  /**
   * Returns an error while the store does not respond, because the client then cannot know whether this entry
   * is granted. `undefined` otherwise, and once the entry is granted.
   */
  get failure(): unknown {
    if (!this.#isInLine) return withoutResponse();
    if (this.ownership || this.#session === 'alive') return undefined;
    return new QueueLockError('UNAVAILABLE', 'no heartbeat was confirmed recently');
  }

  join(client: LockClient, { name, label }: EntryTerms, events: EntryEvents): void {
    // `holding` is empty, because the entry serves all local waiters. By default it would list the holds of
    // the call chain that happens to create it.
    const claim$ = client.claim(name, { ...label, holding: [] });
    this.#claim.add(
      claim$.subscribe({
        next: (state) => {
          this.#isInLine = state.status !== 'joining';
          if (state.status === 'held' && !this.ownership) this.#begin(state.ownership, events);
          if (state.status === 'ended' && state.outcome === 'failed') events.onFailed(state.error);
        },
        error: events.onFailed,
      }),
    );
    const follow = ({ status }: SessionState): void => void (this.#session = status);
    this.#claim.add(client.session$.subscribe({ next: follow, error: events.onFailed }));
  }

  /**
   * Leaves the queue, whether the entry is waiting or granted. No callback is called afterwards. Resolves when the release of a granted entry is
   * confirmed.
   */
  async leave(): Promise<void> {
    // Unsubscribing removes a waiting entry, and releases a granted one.
    this.#claim.unsubscribe();
    await this.ownership?.release();
  }

  #begin(ownership: Ownership, { onHeld, onLost }: EntryEvents): void {
    const { signal } = ownership;
    const tell = (): void => onLost(signal.reason);
    signal.addEventListener('abort', tell);
    this.#claim.add(() => signal.removeEventListener('abort', tell));
    this.ownership = ownership;
    onHeld();
  }
}
