import type { IWatchResponse } from '../protocol/messages.ts';

/** A watch to request, with the id that the request proposes, if any. */
export interface WatchRequest<Owner> {
  readonly owner: Owner;
  readonly id: string | undefined;
}

/** A watch whose request has a response, and the id that the server uses for it. */
export interface Confirmed<Owner> {
  /** `undefined` if the owner has removed its watch meanwhile. */
  readonly owner: Owner | undefined;
  readonly id: string;
}

interface Pending<Owner> {
  owner: Owner | undefined;
}

/**
 * How the server of a stream chooses the ids of watches. `proposed`: it accepts those of the requests, as etcd does since 3.4. `own`: it
 * numbers watches itself, as etcd before 3.4 and every `etcd grpc-proxy` do.
 */
type Numbering = 'unknown' | 'proposed' | 'own';

// The first id that a request proposes. No server that numbers watches itself counts that far, so a confirmed id that equals the proposed one is no
// coincidence.
const FIRST_PROPOSED = 2 ** 40;

/**
 * The ids of the watches on one stream. An id counts only after the server has confirmed it. Until the first confirmation, and on a stream
 * whose server numbers watches itself, one request is in flight at a time, since a grpc-proxy confirms them in any order.
 */
export class WatchIds<Owner> {
  readonly #queued = new Set<Owner>();
  /** The requests in flight by their proposed ids, in the order in which they were sent. */
  readonly #requested = new Map<string, Pending<Owner>>();
  readonly #pending = new Map<Owner, Pending<Owner>>();
  readonly #owners = new Map<string, Owner>();
  readonly #ids = new Map<Owner, string>();
  #numbering: Numbering = 'unknown';
  #nextProposed = FIRST_PROPOSED;

  /** Whether the server accepts the proposed ids. `false` as long as that is unknown. */
  get takesProposed(): boolean {
    return this.#numbering === 'proposed';
  }

  /** Identifies the oldest request in flight. */
  get oldest(): object | undefined {
    const [oldest] = this.#requested.values();
    return oldest;
  }

  /** Queues a watch. */
  add(owner: Owner): void {
    this.#queued.add(owner);
  }

  /** Removes the requests that may be sent now from the queue, and returns them. */
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

  /** Removes a watch. Returns the id to cancel, or `undefined` if it is not confirmed yet. */
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

  /** Returns the watch of a response to a request, or `undefined` if the server responds to a request that was not sent. */
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

  /** Returns the watch with this confirmed id. */
  ownerOf(id: string): Owner | undefined {
    return this.#owners.get(id);
  }

  /** Returns the proposed id of the request. A refusal may lack the id; the server sends refusals in the order of the requests. */
  #requestFor({ watch_id: id, canceled }: Pick<IWatchResponse, 'watch_id' | 'canceled'>): string | undefined {
    if (this.#requested.has(id)) return id;
    const [oldest] = this.#requested.keys();
    return canceled || this.#numbering !== 'proposed' ? oldest : undefined;
  }
}
