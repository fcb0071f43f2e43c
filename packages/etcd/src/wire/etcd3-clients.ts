import { isDeepStrictEqual } from 'node:util';
import type { FreshCredentials } from '@queuelock/core/backend';
import type { Etcd3 } from 'etcd3';

/** A client of npm etcd3 that one call or stream is using. */
export interface ClientUse {
  readonly etcd: Etcd3;
  /** Ends the use of the client of npm etcd3 by the call or stream. It must be called once. */
  readonly end: () => void;
}

interface Generation<C> {
  readonly etcd: Etcd3;
  readonly credentials: C;
  uses: number;
}

/**
 * The clients of npm etcd3 for one member. Such a client never changes its certificates and its password. So after a failed call, the
 * next call reads the credentials again. If they have changed, a new client replaces the current one. Calls and streams in flight keep
 * the earlier client.
 */
export class Etcd3Clients<C> {
  readonly #credentials: FreshCredentials<C>;
  readonly #make: (credentials: C) => Etcd3;
  #current: Generation<C> | undefined;
  #mayBeStale = false;
  #isClosed = false;
  readonly #all = new Set<Generation<C>>();

  constructor(credentials: FreshCredentials<C>, make: (credentials: C) => Etcd3) {
    this.#credentials = credentials;
    this.#make = make;
    if (credentials.isFixed && credentials.latest) this.#current = this.#generation(credentials.latest);
  }

  /** Returns the current client of npm etcd3. Returns `undefined` if the credentials must be read first. */
  present(): ClientUse | undefined {
    return this.#current && !this.#mayBeStale ? this.#useOf(this.#current) : undefined;
  }

  /** Reads the credentials, and returns a client of npm etcd3 that has them. Rejects if no credentials could be read yet. */
  async renewed(): Promise<ClientUse> {
    const credentials = await this.#credentials.next();
    this.#mayBeStale = false;
    const before = this.#current;
    if (before && isDeepStrictEqual(before.credentials, credentials)) return this.#useOf(before);
    this.#current = this.#generation(credentials);
    if (before) this.#closeIfUnused(before);
    return this.#useOf(this.#current);
  }

  /** Records that a call or a stream failed. The credentials may be outdated, so the next call reads them again. */
  failed(): void {
    this.#mayBeStale = !this.#credentials.isFixed;
  }

  close(): void {
    this.#isClosed = true;
    for (const { etcd } of this.#all) etcd.close();
  }

  #generation(credentials: C): Generation<C> {
    const generation = { etcd: this.#make(credentials), credentials, uses: 0 };
    this.#all.add(generation);
    if (this.#isClosed) generation.etcd.close();
    return generation;
  }

  #useOf(generation: Generation<C>): ClientUse {
    generation.uses += 1;
    return {
      etcd: generation.etcd,
      end: () => {
        generation.uses -= 1;
        if (generation !== this.#current) this.#closeIfUnused(generation);
      },
    };
  }

  #closeIfUnused(generation: Generation<C>): void {
    if (generation.uses > 0 || !this.#all.delete(generation) || this.#isClosed) return;
    generation.etcd.close();
  }
}
