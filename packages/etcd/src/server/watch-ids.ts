import type { IWatchResponse } from '../protocol/messages.ts';

/** A watch that the client creates, and the id that its request to the server proposes, if it proposes one. */
export interface WatchRequest<Owner> {
  readonly owner: Owner;
  readonly id: string | undefined;
}

/** A watch whose creation the server has confirmed or refused, and the id that the server uses. */
export interface Confirmed<Owner> {
  /** The watcher that owns the watch, or `undefined` if the watch was removed before the server confirmed it. */
  readonly owner: Owner | undefined;
  readonly id: string;
}

interface Pending<Owner> {
  owner: Owner | undefined;
}

/**
 * How the server chooses the ids of watches. `proposed`: it uses the ids that requests propose, as etcd does since 3.4. `own`: it numbers
 * the watches itself, as older versions and every `etcd grpc-proxy` do.
 */
type Numbering = 'unknown' | 'proposed' | 'own';

// The first id that a request proposes. A server that numbers watches itself never reaches this number. So if a confirmed id equals the proposed one,
// the server has accepted it.
const FIRST_PROPOSED = 2 ** 40;

/**
 * Assigns the ids of the watches on one stream. An id is used only after the server has confirmed it. Until the server has accepted a proposed id,
 * only one request is in flight at a time. If the server numbers watches itself, that is always so. A grpc-proxy confirms several requests in any
 * order, so its responses could not be matched to them.
 */
export class WatchIds<Owner> {
  readonly #queued = new Set<Owner>();
  /** The watch requests in flight by their proposed ids, in the order in which the client sent them. */
  readonly #requested = new Map<string, Pending<Owner>>();
  readonly #pending = new Map<Owner, Pending<Owner>>();
  readonly #owners = new Map<string, Owner>();
  readonly #ids = new Map<Owner, string>();
  #numbering: Numbering = 'unknown';
  #nextProposed = FIRST_PROPOSED;

  /** Whether the server accepts proposed ids; `false` until a response shows it. */
  get takesProposed(): boolean {
    return this.#numbering === 'proposed';
  }

  /** An object that identifies the oldest watch request in flight. */
  get oldest(): object | undefined {
    const [oldest] = this.#requested.values();
    return oldest;
  }

  /** Adds a watch that waits until its request may be sent. */
  add(owner: Owner): void {
    this.#queued.add(owner);
  }

  /**
   * Returns the requests to send now for the waiting watches. While the server has not accepted a proposed id, this is at most one, and none while
   * another request is in flight. The returned watches no longer wait.
   */
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

  /** Removes a watch. Returns the id by which the client must cancel it, or `undefined` if the server has not confirmed the watch yet. */
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

  /** Finds the watch whose creation a response confirms or refuses. Returns `undefined` if the client has sent no such request. */
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

  /** Returns the watcher that owns the watch with the given confirmed id. */
  ownerOf(id: string): Owner | undefined {
    return this.#owners.get(id);
  }

  /**
   * Finds the request to which a response belongs, by its proposed id. A refusal without an id belongs to the oldest request, because servers send
   * refusals in the order of the requests.
   */
  #requestFor({ watch_id: id, canceled }: Pick<IWatchResponse, 'watch_id' | 'canceled'>): string | undefined {
    if (this.#requested.has(id)) return id;
    const [oldest] = this.#requested.keys();
    return canceled || this.#numbering !== 'proposed' ? oldest : undefined;
  }
}
