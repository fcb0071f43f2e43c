import {
  QueueLockError,
  type ClaimOptions,
  type LockClient,
  type Ownership,
  type SessionState,
} from '@queuelock/core';
import { Subscription } from './rx.ts';
import { unanswered } from './sight.ts';

/** What becomes of an entry, as long as it is not given up. */
export interface EntryEvents {
  /** The shared hold begins. */
  readonly onHeld: () => void;
  /** It was lost; told in the same moment. */
  readonly onLost: (reason: unknown) => void;
  /** It never began. */
  readonly onFailed: (error: unknown) => void;
}

/** What an entry is made with. */
export interface EntryTerms {
  readonly name: string;
  readonly label: Pick<ClaimOptions, 'owner' | 'metadata'>;
}

/** The one entry that a cohort has in the queue, until it is given up. */
export class CohortEntry {
  /** Once the turn has come. */
  ownership: Ownership | undefined;
  /** How often it went from one to the next. */
  handOffs = 0;
  readonly #claim = new Subscription();
  #isInLine = false;
  #session: SessionState['status'] = 'idle';

  /** Why the store cannot be asked whose turn it is; `undefined`: it can, or it has said that it is this entry's. */
  get trouble(): unknown {
    if (!this.#isInLine) return unanswered();
    if (this.ownership || this.#session === 'alive') return undefined;
    return new QueueLockError('UNAVAILABLE', 'no heartbeat was answered lately');
  }

  /** Joins the queue. */
  join(client: LockClient, { name, label }: EntryTerms, events: EntryEvents): void {
    // It stands for all who wait here: what the call chain that happens to make it holds is not what they hold.
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

  /** Out of the queue, whatever it is there; nothing is told any more. Settles when a hold is surely given back. */
  async leave(): Promise<void> {
    // Unsubscribing gives up whatever the claim is.
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
