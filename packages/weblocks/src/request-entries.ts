import type { ClaimOptions, LockClient, Ownership } from '@queuelock/core';
import type { ContendedNames } from './contended-names.ts';
import type { QueuesOfName } from './names.ts';
import { QueueClaim } from './queue-claim.ts';

/** Lifecycle of one request in the queues of its lock. */
export interface RequestEntries {
  /** Resolves when the store has the request. The value is whether the request is decided: granted, not available, or refused. */
  enter(): Promise<boolean>;
  /**
   * Resolves with the ownership, or with `undefined` if the lock was not available. Rejects when the request cannot be granted any more.
   * Call it only after `enter`.
   */
  granted(): Promise<Ownership | undefined>;
  /** Leaves all queues in any state. Resolves when the store has confirmed it. Call it only after `enter`. */
  leave(): Promise<void>;
}

/** The queues of a request, and how it enters them. */
export interface EntriesSpec {
  readonly client: LockClient;
  readonly queues: QueuesOfName;
  /** Options of each entry that the request creates. */
  readonly options: Pick<ClaimOptions, 'mode' | 'owner' | 'metadata'>;
}

/**
 * An ordinary request: it enters the `line` queue, at its front also the `hold` queue, and leaves `line` when
 * it is granted. So the `hold` queue has the holders, and the next request or several shared ones. All other
 * requests are only in `line`.
 *
 * If no other request is expected in `line`, both queues are entered at once, which saves a round trip. The
 * lock is granted only to the front of `line`. If there was another request in `line` after all, the request
 * leaves the `hold` queue again. That is the only delay for other requests.
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
    // The rejection is marked as handled, because a request that gives up does not read it.
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
    // The request left before it was granted, so it must not enter the `hold` queue.
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
 * A request with `steal`: it enters the `hold` queue and removes the entries there. Requests in `line` are
 * neither admitted nor moved meanwhile. A request that reaches the front of `line` enters the `hold` queue
 * behind the request with `steal`. A waiting request that was in the `hold` queue before joins it again
 * behind that request.
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
 * A request with `ifAvailable`: it takes the `hold` queue if that is free, and keeps it if `line` is empty.
 * Because of this order, a request that finds the lock held never enters `line`, where it would delay other
 * requests.
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
