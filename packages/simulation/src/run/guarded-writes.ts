import { Machine, type Timeline } from '../timeline.ts';
import type { Held } from './held.ts';
import type { Judge } from './judge.ts';
import type { Store } from './store.ts';

/** A write that the protected resource accepts only while the entry of the writer's hold exists. */
export type GuardedWrite = Pick<Held, 'who' | 'queue' | 'key' | 'token'>;

/**
 * One protected resource for each queue. It accepts a write in a transaction that checks that the writer's
 * entry exists.
 */
export class GuardedWrites {
  readonly #judge: Judge;
  readonly #store: Store;
  readonly #network: Machine;
  /** For each queue, the token of the hold whose write was accepted last. */
  readonly #writtenBy = new Map<string, bigint>();

  constructor(timeline: Timeline, judge: Judge, store: Store) {
    this.#judge = judge;
    this.#store = store;
    this.#network = new Machine(timeline, 'network');
  }

  /** Sends a write that arrives after `takesMs`, even if its client has crashed by then. */
  send(write: GuardedWrite, takesMs: number): void {
    this.#network.after(takesMs, () => this.#arrives(write));
  }

  /**
   * Handles the arrival of a write at the protected resource, which accepts it if the entry of its hold still
   * exists. Checks that no write of a hold with a larger token was accepted before.
   */
  #arrives({ who, queue, key, token }: GuardedWrite): void {
    const isThere = this.#store.standing(queue).some((entry) => entry.key === key && entry.token === token);
    this.#judge.note(`${who} writes by ${token}, which is ${isThere ? 'accepted' : 'refused'}`);
    if (!isThere) return;
    const before = this.#writtenBy.get(queue) ?? 0n;
    this.#judge.require(
      'guarded',
      token >= before,
      () => `${who} writes to ${queue} by ${token} after a write by ${before}`,
    );
    this.#writtenBy.set(queue, token);
  }
}
