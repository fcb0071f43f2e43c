import type { ClaimOptions, LockClient, Ownership } from '@queuelock/core';
import type { ContendedNames } from './contended-names.ts';
import type { QueuesOfName } from './names.ts';
import { QueueClaim } from './queue-claim.ts';

/** The entries of one lock request: adds them to their queues, waits for the grant, and removes them. */
export interface RequestEntries {
  /**
   * Enters the queues. Resolves when the store has responded, with whether the request is already decided: granted, not available, or
   * failed.
   */
  enter(): Promise<boolean>;
  /**
   * Resolves with the ownership, or with `undefined` if the lock was not available. Rejects when the request cannot be granted any more.
   * Call it only after `enter`.
   */
  granted(): Promise<Ownership | undefined>;
  /**
   * Leaves all queues, whether the request waits, holds the lock or has failed. Resolves when the store has confirmed it. Call it only
   * after `enter`.
   */
  leave(): Promise<void>;
}

/** The client and the queues for the entries of a request. */
export interface EntriesSpec {
  readonly client: LockClient;
  readonly queues: QueuesOfName;
  /** Options of each entry that the request creates. */
  readonly options: Pick<ClaimOptions, 'mode' | 'owner' | 'metadata'>;
}

/**
 * The entries of an ordinary request. The request enters the queue `line`. At the front of `line` it also enters the queue `hold`, and when it is
 * granted there, it leaves `line`. So `hold` contains the holders and the next request, or several shared ones. All others are only in `line`. To
 * save a round trip, a request that expects an empty `line` enters both queues at once. It still counts as granted only at the front of `line`. If
 * `line` was not empty after all, the request leaves `hold` again. While it is in `hold` too early, it may delay other requests.
 */
export class OrdinaryEntries implements RequestEntries {
  readonly #spot: EntriesSpec;
  readonly #contended: ContendedNames;
  #line: QueueClaim | undefined;
  #hold: QueueClaim | undefined;
  #wrongGuess: Promise<void> | undefined;
  #granted: Promise<Ownership> | undefined;
  #hasLeft = false;

  constructor(spot: EntriesSpec, contended: ContendedNames) {
    this.#spot = spot;
    this.#contended = contended;
  }

  async enter(): Promise<boolean> {
    const { client, queues, options } = this.#spot;
    const line = new QueueClaim(client, queues.line, options);
    this.#line = line;
    this.#granted = this.#advance(line);
    // Marks a rejection of the grant as handled, because a request that was aborted does not await its grant.
    this.#granted.catch(() => undefined);
    if (!this.#contended.has(queues.line)) this.#inHold();
    await line.placed;
    this.#contended.note(queues.line, !line.isGranted);
    if (!line.isGranted) {
      this.#wrongGuess = this.#hold?.leave();
      this.#hold = undefined;
      return line.hasEnded;
    }
    const hold = this.#inHold();
    await hold.placed;
    return hold.isGranted || hold.hasEnded;
  }

  async granted(): Promise<Ownership | undefined> {
    return this.#granted;
  }

  async leave(): Promise<void> {
    this.#hasLeft = true;
    await Promise.all([this.#line?.leave(), this.#hold?.leave(), this.#wrongGuess]);
  }

  async #advance(line: QueueClaim): Promise<Ownership> {
    await line.granted;
    // If the request was aborted before its grant, it must not enter the `hold` queue.
    if (this.#hasLeft) return line.granted;
    const ownership = await this.#inHold().granted;
    void line.leave();
    return ownership;
  }

  #inHold(): QueueClaim {
    const { client, queues, options } = this.#spot;
    this.#hold ??= new QueueClaim(client, queues.hold, options);
    return this.#hold;
  }
}

/**
 * A request with `steal`. It enters the queue `hold` and removes all other entries there, so it overtakes the requests in the queue `line`.
 * A request that comes to the front of `line` during the steal enters `hold` behind the stealing request. If the steal has removed an entry
 * of a waiting request from `hold`, that request enters `hold` again.
 */
export class StealingEntries implements RequestEntries {
  readonly #spot: EntriesSpec;
  #hold: QueueClaim | undefined;

  constructor(spot: EntriesSpec) {
    this.#spot = spot;
  }

  async enter(): Promise<boolean> {
    const { client, queues, options } = this.#spot;
    this.#hold = new QueueClaim(client, queues.hold, {
      ...options,
      steal: { reason: 'navigator.locks: steal' },
    });
    await this.#hold.granted.catch(() => undefined);
    return true;
  }

  async granted(): Promise<Ownership | undefined> {
    return this.#hold?.granted;
  }

  async leave(): Promise<void> {
    await this.#hold?.leave();
  }
}

/**
 * A request with `ifAvailable`. It makes a try in the `hold` queue, which never waits. If the try is admitted, the request keeps the hold
 * only if `line` is empty. A request that finds the lock held never enters `line`, so it cannot delay other requests.
 */
export class EntriesIfAvailable implements RequestEntries {
  readonly #spot: EntriesSpec;
  #granted: Promise<Ownership | undefined> | undefined;
  #hold: Ownership | undefined;

  constructor(spot: EntriesSpec) {
    this.#spot = spot;
  }

  async enter(): Promise<boolean> {
    this.#granted = this.#try();
    await this.#granted.catch(() => undefined);
    return true;
  }

  async granted(): Promise<Ownership | undefined> {
    return this.#granted;
  }

  async leave(): Promise<void> {
    await this.#hold?.release();
  }

  async #try(): Promise<Ownership | undefined> {
    const { client, queues, options } = this.#spot;
    this.#hold = await client.tryAcquire(queues.hold, options);
    if (!this.#hold) return undefined;
    const line = await client.tryAcquire(queues.line, options);
    if (line) void line.release();
    else await this.#hold.release();
    return line && this.#hold;
  }
}
