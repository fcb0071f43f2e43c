import type { Backend, ObserveOptions, StoredEntry } from '@queuelock/core/backend';
import type { Fixture } from './fixture.ts';

/** Records the snapshots of a queue that one observer receives. */
export class QueueWatch {
  readonly seen: (readonly StoredEntry[])[] = [];
  readonly #stage: Fixture;
  readonly #subscription: { unsubscribe(): void };

  constructor(
    stage: Fixture,
    backend: Backend,
    { queue, ...observeOptions }: ObserveOptions & { readonly queue: string },
  ) {
    this.#stage = stage;
    this.#subscription = backend.observe(queue, observeOptions).subscribe({
      next: (entries) => {
        this.#see(entries);
      },
      error: (error: unknown) => {
        stage.referee.blame(`observing failed: ${String(error)}`);
      },
      complete: () => {
        stage.referee.blame('observing a queue completed');
      },
    });
  }

  /** The entries in the latest snapshot. */
  get entries(): readonly StoredEntry[] {
    return this.seen.at(-1) ?? [];
  }

  get keys(): readonly string[] {
    return this.entries.map(({ key }) => key);
  }

  async untilFirst(): Promise<readonly StoredEntry[]> {
    await this.#stage.board.until('an observer sees the queue', () => this.seen.length > 0);
    return this.seen[0] ?? [];
  }

  async until(what: string, holds: (entries: readonly StoredEntry[]) => boolean): Promise<void> {
    await this.#stage.board.until(
      `an observer sees ${what}`,
      () => this.seen.length > 0 && holds(this.entries),
    );
  }

  /** Resolves when the latest snapshot contains exactly these keys, in this order. */
  untilKeys(...keys: readonly string[]): Promise<void> {
    return this.until(`[${keys.join(', ')}]`, (entries) => {
      return entries.length === keys.length && entries.every(({ key }, place) => key === keys[place]);
    });
  }

  stop(): void {
    this.#subscription.unsubscribe();
  }

  #see(entries: readonly StoredEntry[]): void {
    if (entries.some(({ order }, place) => order <= (entries[place - 1]?.order ?? -1n))) {
      this.#stage.referee.accuse('an observer saw a queue out of order');
    }
    this.seen.push(entries);
    this.#stage.board.note();
  }
}
