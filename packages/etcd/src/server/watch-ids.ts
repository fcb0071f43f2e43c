import type { IWatchResponse } from '../protocol/messages.ts';

/** A watch to request, with the id that the server is asked to give it, if any. */
export interface WatchRequest<Owner> {
  readonly owner: Owner;
  readonly id: string | undefined;
}

/** A watch whose request the server has answered, and its id from now on. */
export interface Confirmed<Owner> {
  /** `undefined` when its owner has left meanwhile. */
  readonly owner: Owner | undefined;
  readonly id: string;
}

interface Pending<Owner> {
  owner: Owner | undefined;
}

/**
 * Which ids the server of a stream gives to watches: `proposed` ones are those of the requests, as etcd does since 3.4; `own` ones are numbered by the
 * server itself, as etcd before 3.4 and every `etcd grpc-proxy` do.
 */
type Numbering = 'unknown' | 'proposed' | 'own';

// No server that numbers watches itself has counted as far, so an id that is confirmed as it was proposed is no coincidence.
const FIRST_PROPOSED = 2 ** 40;

/**
 * The ids of the watches on one stream. An id counts only after the server has confirmed it. Until the first confirmation, and on a stream
 * whose server numbers the watches itself, one request is under way at a time: a grpc-proxy confirms them in any order.
 */
export class WatchIds<Owner> {
  readonly #queued = new Set<Owner>();
  /** By the proposed id, in the order of the requests. */
  readonly #requested = new Map<string, Pending<Owner>>();
  readonly #pending = new Map<Owner, Pending<Owner>>();
  readonly #owners = new Map<string, Owner>();
  readonly #ids = new Map<Owner, string>();
  #numbering: Numbering = 'unknown';
  #nextProposed = FIRST_PROPOSED;

  /** Whether the server takes the proposed ids, as far as it is known. */
  get takesProposed(): boolean {
    return this.#numbering === 'proposed';
  }

  /** Identifies the request that has been under way for the longest time. */
  get oldest(): object | undefined {
    const [oldest] = this.#requested.values();
    return oldest;
  }

  /** Queues a watch. */
  add(owner: Owner): void {
    this.#queued.add(owner);
  }

  /** The requests to send now. */
  take(): readonly WatchRequest<Owner>[] {
    const requests: WatchRequest<Owner>[] = [];
    for (const owner of this.#queued) {
      if (this.#numbering !== 'proposed' && this.#requested.size > 0) break;
      const id = String(this.#nextProposed++);
      const pending = { owner };
      this.#queued.delete(owner);
      this.#requested.set(id, pending);
      this.#pending.set(owner, pending);
      requests.push({ owner, id: this.#numbering === 'own' ? undefined : id });
    }
    return requests;
  }

  /** Forgets a watch; returns the id to cancel. One that is not confirmed yet has none. */
  remove(owner: Owner): string | undefined {
    this.#queued.delete(owner);
    const pending = this.#pending.get(owner);
    if (pending) pending.owner = undefined;
    this.#pending.delete(owner);
    const id = this.#ids.get(owner);
    this.#ids.delete(owner);
    if (id !== undefined) this.#owners.delete(id);
    return id;
  }

  /** The watch that an answer to a request is about; `undefined` when the server answers what was not requested. */
  confirm(response: Pick<IWatchResponse, 'watch_id' | 'canceled'>): Confirmed<Owner> | undefined {
    const { watch_id: id, canceled } = response;
    const request = this.#requestFor(response);
    if (request === undefined || (!canceled && this.#owners.has(id))) return undefined;
    const pending = this.#requested.get(request);
    this.#requested.delete(request);
    const owner = pending?.owner;
    if (owner !== undefined) this.#pending.delete(owner);
    if (canceled) return { owner, id };
    if (this.#numbering === 'unknown') this.#numbering = id === request ? 'proposed' : 'own';
    if (owner !== undefined) {
      this.#owners.set(id, owner);
      this.#ids.set(owner, id);
    }
    return { owner, id };
  }

  /** Whose watch has that confirmed id. */
  ownerOf(id: string): Owner | undefined {
    return this.#owners.get(id);
  }

  /** A refused request may be answered without its id: refusals are answered in the order of the requests. */
  #requestFor({ watch_id: id, canceled }: Pick<IWatchResponse, 'watch_id' | 'canceled'>): string | undefined {
    if (this.#requested.has(id)) return id;
    const [oldest] = this.#requested.keys();
    return canceled || this.#numbering !== 'proposed' ? oldest : undefined;
  }
}
