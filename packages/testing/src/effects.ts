import { AsyncLocalStorage } from 'node:async_hooks';
import type { MultiOwnership, Ownership, SharedOwnership } from '@queuelock/core';

/** Settings of `TestStore.effect`. */
export interface EffectOptions {
  /**
   * Name of the lock that the effect needs. Default: the lock of the `run` call whose work calls the effect.
   * Code that calls `acquire` or `tryAcquire` must give the name; for all other code it is recommended.
   */
  readonly lock?: string;
}

/** An effect that happened without a valid hold. */
export interface StaleEffect {
  /** Name of the effect, which the test passed to `TestStore.effect`. */
  readonly effect: string;
  /** When the effect happened, in milliseconds of the test store's time. */
  readonly atMs: number;
  /** Name of the lock that the effect needed, if it is known. */
  readonly lock?: string;
  /** Id of the test client whose hold has ended; absent when there was no hold at all. */
  readonly client?: string;
  /** What was wrong, as a sentence without a full stop at its end. */
  readonly why: string;
}

type AnyOwnership = Ownership | SharedOwnership | MultiOwnership;

/** A hold of the code under test, with the id of its test client and the names of its locks. */
interface GrantedHold {
  readonly client: string;
  readonly names: readonly string[];
  readonly ownership: AnyOwnership;
}

/**
 * Checks, each time that the code under test calls an effect (a function that `TestStore.effect` has
 * wrapped), that the code holds the lock.
 */
export class Effects {
  readonly stale: StaleEffect[] = [];
  readonly #now: () => number;
  readonly #granted: GrantedHold[] = [];
  /** The holds of the `run` calls around the current code, the innermost last. */
  readonly #within = new AsyncLocalStorage<readonly GrantedHold[]>();

  constructor(now: () => number) {
    this.#now = now;
  }

  granted(client: string, ownership: AnyOwnership): GrantedHold {
    const names = 'names' in ownership ? ownership.names : [ownership.name];
    const hold = { client, names, ownership };
    this.#granted.push(hold);
    return hold;
  }

  /** Calls the work of a `run` call. Effects of that work then need the hold `hold`. */
  within<T>(hold: GrantedHold, work: () => T): T {
    return this.#within.run([...(this.#within.getStore() ?? []), hold], work);
  }

  /** Records the effect as stale unless the code under test holds the lock. */
  happens(effect: string, { lock }: EffectOptions): void {
    const around = this.#within.getStore() ?? [];
    const covers = ({ names }: GrantedHold): boolean => lock === undefined || names.includes(lock);
    const own = around.findLast(covers);
    // If the effect does not belong to the work of a `run` call, any hold of the same lock counts, preferably
    // a hold that has not ended.
    const granted = lock === undefined ? [] : this.#granted.filter(covers);
    const hold = own ?? granted.find(({ ownership }) => ownership.held) ?? granted.at(-1);
    if (hold?.ownership.held === true) return;
    const name = lock ?? hold?.names.join(', ');
    this.stale.push({
      effect,
      atMs: this.#now(),
      ...(name === undefined ? {} : { lock: name }),
      ...(hold ? { client: hold.client, why: whyOver(hold) } : { why: 'no hold was granted for it' }),
    });
  }
}

function whyOver({ ownership: { signal } }: GrantedHold): string {
  const reason: unknown = signal.reason;
  return `its hold had ended (${reason instanceof Error ? reason.message : 'released'})`;
}

/** Returns the text of an error that lists the stale effects. */
export function describeStale(stale: readonly StaleEffect[]): string {
  const lines = stale.map(({ effect, atMs, lock, client, why }) => {
    const where = [lock === undefined ? '' : ` under "${lock}"`, client === undefined ? '' : ` of ${client}`];
    return `  at ${atMs} ms: "${effect}"${where.join('')}: ${why}`;
  });
  return `${stale.length} effects happened without the lock. Stop the work when its signal aborts, and check it before each effect:\n${lines.join('\n')}`;
}
