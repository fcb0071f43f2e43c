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

/**
 * The lease of a session: until when the session exists on the server, and until when its client may rely on
 * it.
 */
interface Lease {
  /** Time at which the session's lease ends, by the server's clock. */
  keptUntil: number;
  /** The end of the proven time by the client's clock, minus the safety margin. A heartbeat proof that arrives after this time does not extend it. */
  provenUntil: number;
  /** Time at which the session's heartbeat in flight was sent, by the client's clock. */
  renewingSince: number | undefined;
  /** Whether the latest heartbeat of the session failed. */
  failed: boolean;
}

const NO_LEASE: Lease = { keptUntil: 0, provenUntil: 0, renewingSince: undefined, failed: false };

/**
 * Settings of one client's backend, such as its machine and its safety margin, and the set that collects the
 * ids of its sessions.
 */
interface Witnessed {
  readonly machine: Machine;
  readonly safetyMarginMs: number;
  /**
   * Which heartbeats prove less time than the lease has left. A backend is allowed to prove less; see
   * `ClientPlan.vague`.
   */
  readonly vague: ClientPlan['vague'];
  /** Whether the backend continues a heartbeat although the core has aborted it. */
  readonly deaf: boolean;
  /** A set to which the id of each session is added when it is opened. */
  readonly opened: Set<string>;
  /** Emits when the client's backend has a reason to suspect the session. */
  readonly doubts$: Observable<unknown>;
  /** Returns whether the server refuses this client's requests for the queue now. */
  readonly refused: (queue: string) => boolean;
}

// The maximum assumed difference between the rates of the server's clock and a client's clock, as a fraction.
const RATE_ERROR = 0.01;
const VAGUE = 0.6;

/** Records what happened on the server: sessions, leases, entries and evictions. The rules compare it with what clients report. */
export class Ledger {
  readonly #timeline: Timeline;
  readonly #leases = new Map<string, Lease>();
  readonly #sessions = new Map<string, string>();
  readonly #newest = new Map<string, Placement>();
  /** Sessions that an operator ended, or that had to end because the server refused to remove an entry. */
  readonly ended = new Set<string>();
  /** Keys of entries that an operator removed. */
  readonly evicted = new Set<string>();
  /** Calls of the core that violate the contract with a backend, each as a description. */
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

  /** Returns the key of a claim's newest entry. The label of the claim (`owner`) identifies it. */
  keyOf(owner: string): string | undefined {
    return this.#newest.get(owner)?.key;
  }

  /**
   * Returns whether an operator removed the entry or ended its session. The rules do not apply to the hold of
   * such an entry until its client is notified.
   */
  wasRemoved(key: string): boolean {
    return this.evicted.has(key) || this.ended.has(this.sessionOf(key));
  }

  /** Wraps a backend so that the ledger records its sessions, heartbeats and entries. */
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

  /**
   * Records the newest entry of a claim. Replies may arrive out of sequence, so it keeps the entry with the
   * greatest order number.
   */
  #noteNewest(owner: string, placement: Placement): void {
    const known = this.#newest.get(owner);
    if (!known || placement.order > known.order) this.#newest.set(owner, placement);
  }

  /**
   * Reads the clocks of client and server before a heartbeat is sent or a session is opened. The returned
   * function records how much time the reply proves, counted from this moment.
   */
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
    // Ids of the session's entries that may be stored on the server, as far as the client's calls and their
    // replies show.
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
