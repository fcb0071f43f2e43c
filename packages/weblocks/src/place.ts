import type { ClaimOptions, LockClient, Ownership } from '@queuelock/core';
import type { Crowds } from './crowds.ts';
import type { QueuesOfName } from './names.ts';
import { Stand } from './stand.ts';

/** The way of one request to its lock and back. */
export interface Place {
  /** Settles when the store has the request; whether that has come to an end: it is granted, not available, or refused. */
  enter(): Promise<boolean>;
  /** Only after `enter`. `undefined`: it was not available. Rejects when the turn cannot come any more. */
  granted(): Promise<Ownership | undefined>;
  /** Out, whatever it was. Settles when the store has confirmed it. Only after `enter`. */
  leave(): Promise<void>;
}

/** Where a place is taken. */
export interface Spot {
  readonly client: LockClient;
  readonly queues: QueuesOfName;
  /** Of each entry that the request makes. */
  readonly options: Pick<ClaimOptions, 'mode' | 'owner' | 'metadata'>;
}

/**
 * As most requests go: into the line, at its front into the hold as well, and out of the line when it is granted. So in the hold are
 * those who hold, and one who is next or several who share it; all others are in line.
 *
 * Where nobody is expected in line, both are entered in one go, which saves a round trip. Only who is at the front of the line is granted,
 * so whoever guessed wrong steps out of the hold again, and at most delays others by that.
 */
export class PlaceInLine implements Place {
  readonly #spot: Spot;
  readonly #crowds: Crowds;
  #line: Stand | undefined;
  #hold: Stand | undefined;
  #wrongGuess: Promise<void> | undefined;
  #granted: Promise<Ownership> | undefined;
  #left = false;

  constructor(spot: Spot, crowds: Crowds) {
    this.#spot = spot;
    this.#crowds = crowds;
  }

  async enter(): Promise<boolean> {
    const { client, queues, options } = this.#spot;
    const line = new Stand(client, queues.line, options);
    this.#line = line;
    this.#granted = this.#advance(line);
    // Whoever gives up does not ask for it any more.
    this.#granted.catch(() => undefined);
    if (!this.#crowds.has(queues.line)) this.#inHold();
    await line.placed;
    this.#crowds.note(queues.line, !line.isGranted);
    if (!line.isGranted) {
      this.#wrongGuess = this.#hold?.leave();
      this.#hold = undefined;
      return line.isOver;
    }
    const hold = this.#inHold();
    await hold.placed;
    return hold.isGranted || hold.isOver;
  }

  async granted(): Promise<Ownership | undefined> {
    return this.#granted;
  }

  async leave(): Promise<void> {
    this.#left = true;
    await Promise.all([this.#line?.leave(), this.#hold?.leave(), this.#wrongGuess]);
  }

  async #advance(line: Stand): Promise<Ownership> {
    await line.granted;
    // A turn that comes when nobody wants it any more.
    if (this.#left) return line.granted;
    const ownership = await this.#inHold().granted;
    void line.leave();
    return ownership;
  }

  #inHold(): Stand {
    const { client, queues, options } = this.#spot;
    this.#hold ??= new Stand(client, queues.hold, options);
    return this.#hold;
  }
}

/**
 * As a thief goes: into the hold, from which those who are in it are removed. Nobody in line is let in meanwhile, or moved: whoever
 * comes to the front of the line enters the hold behind the thief, and whoever was there before is turned back to behind it.
 */
export class StolenPlace implements Place {
  readonly #spot: Spot;
  #hold: Stand | undefined;

  constructor(spot: Spot) {
    this.#spot = spot;
  }

  async enter(): Promise<boolean> {
    const { client, queues, options } = this.#spot;
    this.#hold = new Stand(client, queues.hold, { ...options, steal: { reason: 'navigator.locks: steal' } });
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
 * As a request goes that does not wait: into the hold if it is free, and then it stays if nobody is in line. In this order, so that
 * one that finds the lock held leaves nothing that another one could meet.
 */
export class PlaceIfAvailable implements Place {
  readonly #spot: Spot;
  #granted: Promise<Ownership | undefined> | undefined;
  #hold: Ownership | undefined;

  constructor(spot: Spot) {
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
