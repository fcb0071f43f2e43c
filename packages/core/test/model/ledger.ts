import type { Observable } from 'rxjs';
import {
  QueueLockError,
  type Backend,
  type EntrySpec,
  type Placement,
  type Session,
} from '../../src/backend.ts';
import type { ClientPlan } from './plan.ts';
import type { Machine, Timeline } from './timeline.ts';

/** The times until which a session lives, and is proven to live. */
interface Lease {
  /** The end of the lease in the server's time. */
  keptUntil: number;
  /** The end of the proven time, in the client's time, which may run slower. The margin is not subtracted. A later reply does not count. */
  provenUntil: number;
  /** Time at which the renewal in flight was sent, in the client's time. */
  renewingSince: number | undefined;
  /** Whether the latest renewal brought no proof. */
  failed: boolean;
}

const NO_LEASE: Lease = { keptUntil: 0, provenUntil: 0, renewingSince: undefined, failed: false };

/** The parameters for one client: how its backend behaves and where its records go. */
interface Witnessed {
  readonly machine: Machine;
  readonly safetyMarginMs: number;
  /** Whether renewals prove less than the session has left, as a backend may do. */
  readonly vague: ClientPlan['vague'];
  /** Whether renewals continue after the core aborted them. */
  readonly deaf: boolean;
  /** The ids of all opened sessions are added to this set. */
  readonly opened: Set<string>;
  /** Emits reasons to suspect the session, as a backend may do. */
  readonly doubts$: Observable<unknown>;
  /** Returns whether the server refuses this client in this queue at the moment. */
  readonly refused: (queue: string) => boolean;
}

// The maximum assumed difference between the rates of the server's and a client's clock.
const RATE_ERROR = 0.01;
const VAGUE = 0.6;

/** Records what really happened between the clients and the server. */
export class Ledger {
  readonly #timeline: Timeline;
  readonly #leases = new Map<string, Lease>();
  readonly #sessions = new Map<string, string>();
  readonly #newest = new Map<string, Placement>();
  /** Sessions that an operator ended early, or that had to end because a removal was refused. */
  readonly ended = new Set<string>();
  /** Keys of entries that an operator removed. */
  readonly evicted = new Set<string>();
  /** Calls of the core that violate the contract with a backend. */
  readonly breaches: string[] = [];

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  sessionOf(key: string): string {
    return this.#sessions.get(key) ?? 'none';
  }

  leaseOf(sessionId: string): Lease {
    return this.#leases.get(sessionId) ?? NO_LEASE;
  }

  /** Returns the key of the newest entry with this owner. */
  keyOf(owner: string): string | undefined {
    return this.#newest.get(owner)?.key;
  }

  /** Returns whether an operator removed this entry or its session. Nothing is promised until its client is notified. */
  wasRemoved(key: string): boolean {
    return this.evicted.has(key) || this.ended.has(this.sessionOf(key));
  }

  /** Returns the same backend with records of all relevant calls. */
  witness(backend: Backend, client: Witnessed): Backend {
    return {
      ...backend,
      open: async (ttlMs, signal) => {
        const proof = this.#proofFrom(client);
        const session = await backend.open(ttlMs, signal);
        const lease = { ...NO_LEASE, provenUntil: Infinity };
        this.#leases.set(session.id, lease);
        client.opened.add(session.id);
        proof(lease, ttlMs);
        return this.#witnessSession(session, lease, client);
      },
    };
  }

  /** Records the newest entry. The reply for an entry of an earlier session may come after that for an entry of the next session. */
  #noteNewest(owner: string, placement: Placement): void {
    const known = this.#newest.get(owner);
    if (!known || placement.order > known.order) this.#newest.set(owner, placement);
  }

  /** Records the present times of both clocks, which the proof counts from. */
  #proofFrom({ machine, safetyMarginMs }: Witnessed): (lease: Lease, provenMs: number) => void {
    const [here, there] = [machine.now(), this.#timeline.now()];
    return (lease, provenMs) => {
      const provenUntil = here + provenMs * (1 - RATE_ERROR) - safetyMarginMs;
      lease.keptUntil = Math.max(lease.keptUntil, there + provenMs);
      if (lease.provenUntil === Infinity) lease.provenUntil = provenUntil;
      else if (machine.now() < lease.provenUntil) {
        lease.provenUntil = Math.max(lease.provenUntil, provenUntil);
      }
    };
  }

  #witnessSession(session: Session, lease: Lease, client: Witnessed): Session {
    const removed = new Set<string>();
    // Ids of entries that may be in the queue, as far as the client can know from its calls and their replies.
    const unsure = new Set<string>();
    let renewals = 0;
    const join = async <P extends Placement | undefined>(
      { queue, id, value = '{}' }: EntrySpec,
      enter: () => Promise<P>,
    ): Promise<P> => {
      if (removed.has(id)) this.breaches.push('an id was enqueued after its removal had begun');
      if (client.refused(queue)) throw refusal(queue);
      unsure.add(id);
      const placement = await enter();
      if (!placement) unsure.delete(id);
      if (!placement) return placement;
      this.#sessions.set(placement.key, session.id);
      this.#noteNewest((JSON.parse(value) as { owner: string }).owner, placement);
      return placement;
    };
    return {
      id: session.id,
      ttlMs: session.ttlMs,
      doubts$: client.doubts$,
      renew: async (signal) => {
        if (lease.renewingSince !== undefined) this.breaches.push('two renewals of a session at a time');
        lease.renewingSince = client.machine.now();
        const proof = this.#proofFrom(client);
        try {
          const keptMs = await session.renew(client.deaf ? new AbortController().signal : signal);
          const vague = client.vague === 'always' || (client.vague && renewals++ % 2 === 1);
          const provenMs = vague ? keptMs * VAGUE : keptMs;
          proof(lease, provenMs);
          lease.failed = false;
          return provenMs;
        } catch (error) {
          lease.failed = true;
          throw error;
        } finally {
          lease.renewingSince = undefined;
        }
      },
      enqueue: (spec) => join(spec, () => session.enqueue(spec)),
      tryEnqueue: (spec) => join(spec, () => session.tryEnqueue(spec)),
      update: (queue, id, value) => session.update(queue, id, value),
      ...(session.traces ? { traces: session.traces } : {}),
      remove: async (queue, id) => {
        removed.add(id);
        if (client.refused(queue)) {
          if (unsure.has(id)) this.ended.add(session.id);
          throw refusal(queue);
        }
        return session.remove(queue, id);
      },
      close: () => session.close(),
    };
  }
}

function refusal(queue: string): QueueLockError {
  return new QueueLockError('ACCESS_DENIED', `not allowed to write in ${queue}`);
}
