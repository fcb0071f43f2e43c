// Folder "reentrancy": lets code that runs under a hold enter the same lock again.
// call-chain.ts tracks the holds of each call chain. reentrancy.ts (this file) enters a hold again, and gives each level of a hold a queue
// of its own.

import { heldByThisChain, type ChainHold } from './call-chain.ts';
import type { Clock } from '../base/clock.ts';
import { QueueLockError, invalidArgument } from '../api/errors.ts';
import type { HandoverRequest, Ownership } from '../api/hold-api.ts';
import type { AcquireOptions } from '../api/options.ts';
import { ownershipInJson } from '../api/ownership-json.ts';
import { merge, type Observable } from '../base/rx.ts';
import { waitLimit, type WaitContext, type WaitLimit } from '../work/wait-limit.ts';

/** A hold on the server, and the number of its levels (nested calls of its call chain) that have not ended. */
interface Shared {
  /** The client that has the hold. It is only compared with other clients by identity. */
  readonly by: object;
  readonly hold: Ownership;
  levels: number;
}

/** The options that apply when a call enters a hold again. */
export type ReentryOptions = Pick<AcquireOptions, 'signal' | 'timeoutMs' | 'minRemainingMs'>;

/**
 * A hold that its own call chain may enter again. Each call that enters it is one level deeper. If several calls enter from the same level, one is
 * inside at a time, and the others wait until it has left. The hold is released when all levels have ended. Reentrant locks of Java and Curator count
 * the nested acquisitions of each thread. Async code has no thread of its own, so the levels of a call chain are counted instead.
 */
export class ReentrantOwnership implements Ownership {
  readonly depth: number;
  readonly #shared: Shared;
  readonly #leave: () => void;
  #line: Promise<void> = Promise.resolve();
  #released: Promise<void> | undefined;

  private constructor(shared: Shared, depth: number, leave: () => void) {
    this.depth = depth;
    this.#shared = shared;
    this.#leave = leave;
    shared.levels += 1;
  }

  static outermost(by: object, hold: Ownership): ReentrantOwnership {
    // Creates the signal of the hold now, in the context of the holding caller. Otherwise a later call chain might create it, as the first that reads
    // it.
    void hold.signal;
    return new ReentrantOwnership({ by, hold, levels: 0 }, 1, () => undefined);
  }

  isOf(client: object, name: string): boolean {
    return this.#shared.by === client && this.name === name;
  }

  /** Enters the next level of the hold (a nested call). Waits until all earlier calls that entered from the level of this call have left. */
  async enter({ minRemainingMs, ...limitOfWait }: ReentryOptions, clock: Clock): Promise<ReentrantOwnership> {
    const before = this.#line;
    let leave!: () => void;
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    this.#line = before.then(() => left);
    try {
      // If the hold is lost, this call must reject at once. The earlier call from this level may notice the loss late, so waiting for its end would
      // delay the error.
      const context = { clock, what: `${JSON.stringify(this.name)}, entered again` };
      const lost$ = waitLimit({ signal: this.signal }, context);
      await turnWithin(before, merge(waitLimitOf(limitOfWait, context), lost$));
      this.throwIfLost(minRemainingMs);
    } catch (error) {
      leave();
      throw error;
    }
    return new ReentrantOwnership(this.#shared, this.depth + 1, leave);
  }

  get name(): string {
    return this.#shared.hold.name;
  }

  get id(): string {
    return this.#shared.hold.id;
  }

  get limit(): number {
    return this.#shared.hold.limit;
  }

  get permits(): number {
    return this.#shared.hold.permits;
  }

  get key(): string {
    return this.#shared.hold.key;
  }

  get order(): bigint {
    return this.#shared.hold.order;
  }

  get token(): bigint {
    return this.#shared.hold.token;
  }

  get grantToken(): bigint | undefined {
    return this.#shared.hold.grantToken;
  }

  get shared(): boolean {
    return this.#shared.hold.shared;
  }

  get signal(): AbortSignal {
    return this.#shared.hold.signal;
  }

  get held(): boolean {
    return this.remainingMs > 0;
  }

  get remainingMs(): number {
    return this.#released ? 0 : this.#shared.hold.remainingMs;
  }

  get requests$(): Observable<HandoverRequest> {
    return this.#shared.hold.requests$;
  }

  readonly throwIfLost = (minRemainingMs?: number): void => {
    this.#throwIfReleased();
    this.#shared.hold.throwIfLost(minRemainingMs);
  };

  readonly downgrade = async (): Promise<void> => {
    this.#throwIfReleased();
    await this.#shared.hold.downgrade();
  };

  readonly update = async (label: Parameters<Ownership['update']>[0]): Promise<void> => {
    this.#throwIfReleased();
    await this.#shared.hold.update(label);
  };

  readonly release = (): Promise<void> => {
    this.#released ??= this.#release();
    return this.#released;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  toJSON(): object {
    return ownershipInJson(this);
  }

  async #release(): Promise<void> {
    this.#shared.levels -= 1;
    if (this.#shared.levels === 0) await this.#shared.hold.release();
    this.#leave();
  }

  #throwIfReleased(): void {
    if (this.#released)
      throw new QueueLockError('OWNERSHIP_LOST', `${JSON.stringify(this.name)} was released at this level`);
  }
}

/**
 * Returns the hold to enter again, or `undefined` when the call needs its own entry. If a call waits for a lock that its own call chain holds, that
 * is a deadlock: the new entry would wait for the hold, which ends only after the call. So this throws. The only exception is a call for further
 * permits of a semaphore, when all permits of the call chain fit into the limit. Such a call may still wait long or for ever, when other holders also
 * wait for more permits. These cycles can be detected from the holds that each entry lists in its label.
 * @throws {QueueLockError} `REENTRANT` when the running call chain holds the name and may not enter it again
 */
export function holdToEnter(
  by: object,
  name: string,
  options: AcquireOptions,
): ReentrantOwnership | undefined {
  const { reenter, reentrant = false, mode = 'exclusive', timeoutMs } = options;
  const around = heldByThisChain().filter((held) => held.by === by && held.ownership.name === name);
  const hold = reenter ?? around[0]?.ownership;
  if (!hold) return undefined;
  if (reenter && !(reenter instanceof ReentrantOwnership && reenter.isOf(by, name)))
    throw invalidArgument(
      'reenter',
      reenter,
      `is a hold of ${JSON.stringify(name)} that this client acquired with reentrant: true`,
    );
  if (reenter || reentrant) {
    if (!(hold instanceof ReentrantOwnership))
      throw isHeld(name, 'set reentrant: true on the outer hold too');
    if (hold.shared && mode === 'exclusive') throw isHeld(name, 'a reader cannot become a writer');
    return hold;
  }
  // With a timeout of 0 the call makes one attempt and does not wait, so it cannot deadlock.
  if (timeoutMs === 0 || mayFit(around, options)) return undefined;
  throw isHeld(
    name,
    (options.limit ?? 1) === 1
      ? 'pass the ownership down, or set reentrant: true in both places'
      : 'acquire all permits at once, in the outermost call',
  );
}

/**
 * Returns whether the requested permits fit into the limit together with all permits that the call chain holds. Returns `false` for a limit that may change.
 */
function mayFit(around: readonly ChainHold[], { limit: limit$ = 1, permits = 1 }: AcquireOptions): boolean {
  if (typeof limit$ !== 'number') return false;
  // All levels of a hold share the permits of its outermost level.
  const taken = new Map(around.map((held) => [held.ownership.id, held.permits]));
  return [...taken.values()].reduce((sum, held) => sum + held, permits) <= limit$;
}

function isHeld(name: string, remedy: string): QueueLockError {
  return new QueueLockError(
    'REENTRANT',
    `${JSON.stringify(name)} is already held by this call chain, which would wait for itself forever; ${remedy}`,
  );
}

/**
 * Creates the stream that errors when a call's wait for earlier calls exceeds its timeout or is aborted. A timeout of 0 becomes 1 ms, because
 * `waitLimit` starts no timer for 0.
 */
function waitLimitOf({ signal, timeoutMs }: WaitLimit, context: WaitContext): Observable<never> {
  return waitLimit({ signal, timeoutMs: timeoutMs === 0 ? 1 : timeoutMs }, context);
}

async function turnWithin(turn: Promise<void>, limit$: Observable<never>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const limit = limit$.subscribe({ error: reject });
    void turn.then(() => {
      limit.unsubscribe();
      resolve();
    });
  });
}
