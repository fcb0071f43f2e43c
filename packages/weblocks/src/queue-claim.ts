import type { ClaimOptions, ClaimState, LockClient, Ownership } from '@queuelock/core';
import { filter, firstValueFrom } from './rx.ts';

/** An entry of a request in one queue, from the enqueue to the removal. */
export class QueueClaim {
  /** Resolves when the store has responded to the enqueue: the entry waits, is granted, or has ended. */
  readonly placed: Promise<void>;
  /** Resolves with the ownership. Rejects if the entry ends before it is granted. */
  readonly granted: Promise<Ownership>;
  readonly #client: LockClient;
  readonly #queue: string;
  readonly #claim: { unsubscribe(): void };
  #placed!: () => void;
  #grant!: (ownership: Ownership) => void;
  #refuse!: (error: unknown) => void;
  #state: ClaimState = { status: 'joining' };
  #leaving: Promise<void> | undefined;

  constructor(client: LockClient, queue: string, options: ClaimOptions) {
    this.#client = client;
    this.#queue = queue;
    this.placed = new Promise((resolve) => (this.#placed = resolve));
    this.granted = new Promise((resolve, reject) => {
      this.#grant = resolve;
      this.#refuse = reject;
    });
    // Marks a rejection of `granted` as handled, because a request that has left does not await this promise.
    this.granted.catch(() => undefined);
    this.#claim = client.claim(queue, options).subscribe({
      next: (state) => this.#onState(state),
      error: (error: unknown) => this.#onState({ status: 'ended', outcome: 'failed', error }),
    });
  }

  /** Whether the entry is granted. */
  get isGranted(): boolean {
    return this.#state.status === 'held' || this.#state.status === 'suspect';
  }

  /** Whether the entry has ended, so that it will not be granted. */
  get hasEnded(): boolean {
    return this.#state.status === 'ended';
  }

  /** Leaves the queue. Resolves when the store has confirmed the removal of the entry. */
  leave(): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  async #leave(): Promise<void> {
    // First awaits the response to the enqueue. If the enqueue were interrupted, its outcome would be
    // unknown.
    await this.placed;
    const state = this.#state;
    if (state.status === 'ended') return;
    if (state.status === 'held' || state.status === 'suspect') return state.ownership.release();
    this.#claim.unsubscribe();
    if (state.status === 'queued') await this.#untilRemoved(state.id);
  }

  /**
   * Waits until the entry is no longer in the queue. It observes the queue, since `unsubscribe` does not
   * report when the entry is removed.
   */
  async #untilRemoved(id: string): Promise<void> {
    const without$ = this.#client
      .watch(this.#queue)
      .pipe(filter(({ status, entries }) => status === 'live' && !entries.some((entry) => entry.id === id)));
    await firstValueFrom(without$, { defaultValue: undefined });
  }

  #onState(state: ClaimState): void {
    this.#state = state;
    if (state.status === 'joining') return;
    this.#placed();
    if (state.status === 'held') this.#grant(state.ownership);
    if (state.status === 'ended' && state.outcome !== 'released') this.#refuse(state.error);
  }
}
