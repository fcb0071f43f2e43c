import {
  QueueLockError,
  type ClaimOptions,
  type LockClient,
  type Ownership,
  type SessionState,
} from '@queuelock/core';
import { Subscription } from './rx.ts';
import { unanswered } from './sight.ts';

/** Callbacks of the entry of a cohort. None is called after `leave`. */
export interface EntryEvents {
  /** The entry calls this when it is granted. */
  readonly onHeld: () => void;
  /** The granted entry calls this when it is lost, synchronously with the loss. */
  readonly onLost: (reason: unknown) => void;
  /** The entry calls this when its claim has ended without a grant. */
  readonly onFailed: (error: unknown) => void;
}

/** Arguments of the claim of an entry. */
export interface EntryTerms {
  readonly name: string;
  readonly label: Pick<ClaimOptions, 'owner' | 'metadata'>;
}

/** The one entry that a cohort has in the queue, until it leaves. */
export class CohortEntry {
  /** The ownership. Set once the entry is granted. */
  ownership: Ownership | undefined;
  /** Number of times that the hold has passed from one acquirer to the next. */
  handOffs = 0;
  readonly #claim = new Subscription();
  #isInLine = false;
  #session: SessionState['status'] = 'idle';

  /**
   * Returns why the store cannot be read to learn whether this entry is granted. `undefined` while it can be read, and once the entry is granted.
   */
  get trouble(): unknown {
    if (!this.#isInLine) return unanswered();
    if (this.ownership || this.#session === 'alive') return undefined;
    return new QueueLockError('UNAVAILABLE', 'no heartbeat was confirmed recently');
  }

  /** Joins the queue. */
  join(client: LockClient, { name, label }: EntryTerms, events: EntryEvents): void {
    // The entry serves all local waiters, so it must not name the holds of the call chain that happens to create it.
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

  /** Leaves the queue in any state. No callback is called afterwards. Resolves when the release of a granted entry is confirmed. */
  async leave(): Promise<void> {
    // Unsubscribing withdraws or releases the claim.
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
