import type { ClaimOptions, ClaimState, LockClient, Ownership } from '@queuelock/core';
import { filter, firstValueFrom } from './rx.ts';

/** One entry in one queue, from joining to leaving. */
export class Stand {
  /** Settles when it is certain where it stands: in line, at the front, or nowhere. */
  readonly placed: Promise<void>;
  /** The ownership that it comes to. Rejects with what ended the claim before. */
  readonly granted: Promise<Ownership>;
  readonly #client: LockClient;
  readonly #queue: string;
  readonly #claim: { unsubscribe(): void };
  #placed!: () => void;
  #grant!: (ownership: Ownership) => void;
  #refuse!: (error: unknown) => void;
  #state: ClaimState = { status: 'joining' };
  #left: Promise<void> | undefined;

  constructor(client: LockClient, queue: string, options: ClaimOptions) {
    this.#client = client;
    this.#queue = queue;
    this.placed = new Promise((resolve) => (this.#placed = resolve));
    this.granted = new Promise((resolve, reject) => {
      this.#grant = resolve;
      this.#refuse = reject;
    });
    // Whoever left does not ask for it any more.
    this.granted.catch(() => undefined);
    this.#claim = client.claim(queue, options).subscribe({
      next: (state) => this.#see(state),
      error: (error: unknown) => this.#see({ status: 'ended', outcome: 'failed', error }),
    });
  }

  /** Whether its turn has come. */
  get isGranted(): boolean {
    return this.#state.status === 'held' || this.#state.status === 'suspect';
  }

  /** Whether its turn cannot come any more. */
  get isOver(): boolean {
    return this.#state.status === 'ended';
  }

  /** Out of the queue. Settles when the store has confirmed it. */
  leave(): Promise<void> {
    this.#left ??= this.#leave();
    return this.#left;
  }

  async #leave(): Promise<void> {
    // A join cannot be interrupted, since its effect would be unknown.
    await this.placed;
    const state = this.#state;
    if (state.status === 'ended') return;
    if (state.status === 'held' || state.status === 'suspect') return state.ownership.release();
    this.#claim.unsubscribe();
    if (state.status === 'queued') await this.#gone(state.id);
  }

  /** A withdrawal from the line is not confirmed to us: so look. */
  async #gone(id: string): Promise<void> {
    const without$ = this.#client
      .watch(this.#queue)
      .pipe(filter(({ status, entries }) => status === 'live' && !entries.some((entry) => entry.id === id)));
    await firstValueFrom(without$, { defaultValue: undefined });
  }

  #see(state: ClaimState): void {
    this.#state = state;
    if (state.status === 'joining') return;
    this.#placed();
    if (state.status === 'held') this.#grant(state.ownership);
    if (state.status === 'ended' && state.outcome !== 'released') this.#refuse(state.error);
  }
}
