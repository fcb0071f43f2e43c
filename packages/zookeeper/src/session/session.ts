// Folder "session": keeps a session alive, and computes until when it is proven to be alive.
// session.ts (this file) contains a session with its entries. private-node.ts creates the node to which heartbeats are written.
// heartbeat-proof.ts computes what they prove. resumption.ts exports a session.

import { isQueueLockError, leftOfTtl, type QueueLockError } from '@queuelock/core/backend';
import type { Clock, EntrySpec, LocalWaiters, HoldTraces, Placement } from '@queuelock/core/backend';
import type { EnqueueAllOptions, Session } from '@queuelock/core/backend';
import { orAborted } from '../base/aborted.ts';
import { enqueueOne } from '../entry/enqueue-one.ts';
import { HeartbeatProof } from './heartbeat-proof.ts';
import type { ZkDriver } from '../driver/driver.ts';
import { OwnEntry } from '../entry/entry.ts';
import type { NodePosition } from '../entry/enqueue.ts';
import { privateNodeLost, sessionLost, sessionResumedElsewhere } from '../driver/errors.ts';
import { gateDirectory } from '../queue/names.ts';
import { checkChange, checkShare, checkSpec } from '../queue/naming-checks.ts';
import { sessionContextOf, type SessionContext } from '../server/session-context.ts';
import { createPrivateNode, type PrivateNode } from './private-node.ts';
import { locationOf, type QueueLocations } from '../queue/queue-location.ts';
import { resumptionText } from './resumption.ts';
import { removeUnclaimed } from './unclaimed.ts';
import { checkQueue } from '../queue/shape.ts';
import { Subject, merge, type Observable } from '../base/rx.ts';
import { checkSpecs, enqueueAll } from '../multi/enqueue-all.ts';
import type { EntryRequest } from '../multi/entry-request.ts';
import { Traces } from '../entry/traces.ts';
import { placementOf } from '../turn/turns.ts';

/** Where a session stores its queues, and what it shares with other sessions of this process. */
export interface SessionLocation extends QueueLocations {
  readonly clock: Clock;
  /** Whether the session was resumed. Then the client that had it before may have enqueued entries. */
  readonly isResumed: boolean;
  /** The waiters of all sessions of this process, by the paths of the nodes for which they wait. */
  readonly followed: LocalWaiters;
}

/** Takes over a session. A client that had the session before notices that at its next heartbeat. */
export async function openSession(zk: ZkDriver, location: SessionLocation): Promise<Session> {
  return new ZooKeeperSession(zk, await createPrivateNode(zk, location.root), location);
}

function gaveUp(): QueueLockError {
  return sessionLost('an entry could not be removed, so the session was ended');
}

class ZooKeeperSession implements Session {
  readonly id: string;
  readonly ttlMs: number;
  readonly doubts$: Observable<unknown>;
  readonly traces: HoldTraces;
  /** The exported session: its id and password, a secret. */
  readonly resumption: string;
  readonly #zk: ZkDriver;
  readonly #locations: QueueLocations;
  readonly #isResumed: boolean;
  readonly #clock: Clock;
  readonly #privateNode: PrivateNode;
  readonly #heartbeatProof: HeartbeatProof;
  readonly #givenUp$ = new Subject<void>();
  #isGivenUp = false;
  /** The error for all calls once another client has resumed the session. */
  #takenOver: QueueLockError | undefined;
  readonly #context: SessionContext;
  readonly #entries = new Map<string, OwnEntry>();
  /** The queue of each entry, by the id of the entry. */
  readonly #queues = new Map<string, string>();

  constructor(
    zk: ZkDriver,
    privateNode: PrivateNode,
    { clock, isResumed, followed, ...locations }: SessionLocation,
  ) {
    this.id = zk.sessionId;
    this.ttlMs = zk.timeoutMs;
    this.doubts$ = merge(zk.connection$, this.#givenUp$);
    this.resumption = resumptionText({ session: zk.sessionKey, ttlMs: zk.timeoutMs });
    this.#zk = zk;
    this.#locations = locations;
    this.#isResumed = isResumed;
    this.#clock = clock;
    this.#privateNode = privateNode;
    this.#heartbeatProof = new HeartbeatProof(zk.timeoutMs, zk.startedAt);
    this.#context = sessionContextOf(zk, { clock, followed, giveUp: () => this.#giveUp() });
    this.traces = new Traces(zk, { locations, entryOf: (queue, id) => this.#find(queue, id) });
    zk.connection$.subscribe({
      next: (event) => {
        if (event.status === 'lost') this.#heartbeatProof.disconnected(event.at);
      },
      error: () => undefined,
    });
  }

  async renew(signal: AbortSignal): Promise<number> {
    if (this.#isGivenUp) throw this.#closeLost(gaveUp());
    if (this.#takenOver) throw this.#takenOver;
    const sentAt = this.#clock.now();
    // After an abort the heartbeat continues: if a reply arrives later, it counts for the next heartbeat.
    const base = await orAborted(this.#heartbeat(sentAt), signal);
    return leftOfTtl(this.ttlMs, sentAt - base);
  }

  async #heartbeat(sentAt: number): Promise<number> {
    const { path, czxid } = this.#privateNode;
    const found = await this.#zk.write(path, '', { urgent: true });
    if (this.#isGivenUp) throw this.#closeLost(gaveUp());
    if (!found) throw this.#closeLost(privateNodeLost(path));
    if (found.czxid !== czxid) {
      this.#takenOver = sessionResumedElsewhere(this.id);
      // Only disconnects: the session belongs to another process now.
      void this.abandon();
      throw this.#takenOver;
    }
    // At a reconnect, a server may grant a shorter timeout. Earlier proofs of liveness are then invalid.
    if (this.#zk.timeoutMs >= this.ttlMs) return this.#heartbeatProof.acknowledged(sentAt);
    const granted = `the session had ${this.ttlMs} ms, and at the reconnect the server granted ${this.#zk.timeoutMs} ms`;
    throw this.#closeLost(sessionLost(granted));
  }

  /**
   * Starts to close the session, and returns the error `why`. The caller must throw the error at once.
   * Holders must be notified before other clients are granted the session's locks, which may happen as soon
   * as the server has ended the session.
   */
  #closeLost(why: QueueLockError): QueueLockError {
    void this.close();
    return why;
  }

  /** Ends the session. Requests a heartbeat at once, for which `renew` rejects, so that holders are notified of the loss before the session is closed. */
  #giveUp(): void {
    this.#isGivenUp = true;
    this.#givenUp$.next();
  }

  async enqueue(spec: EntrySpec): Promise<Placement> {
    const entry = this.#entryFor(spec);
    try {
      return this.#placement({ entry, spec }, await enqueueOne(entry, spec));
    } catch (error) {
      this.#forgetLost([spec], error);
      throw error;
    }
  }

  async enqueueAll(
    specs: readonly EntrySpec[],
    { isTry = false }: EnqueueAllOptions = {},
  ): Promise<readonly Placement[]> {
    checkSpecs(specs);
    if (specs.length === 0) return [];
    for (const spec of specs) this.#check(spec);
    const members = specs.map((spec) => ({ spec, entry: this.#entryFor(spec) }));
    const { root } = this.#locations;
    const location = { root, directory: gateDirectory(root) };
    try {
      const positions = await enqueueAll(members, { context: this.#context, location, isTry });
      return positions.map(({ position, member }) => this.#placement(member, position));
    } catch (error) {
      this.#forgetLost(specs, error);
      throw error;
    }
  }

  async tryEnqueue(spec: EntrySpec): Promise<Placement | undefined> {
    const placement = await this.enqueue(spec);
    if (placement.turn.admitted) return placement;
    await this.remove(spec.queue, spec.id);
    return undefined;
  }

  async update(queue: string, id: string, value: string): Promise<boolean> {
    checkChange(this.#locations.schemeFor(queue));
    return (await this.#find(queue, id)?.write(value)) ?? false;
  }

  async share(queue: string, id: string, value: string): Promise<boolean> {
    checkShare(this.#locations.schemeFor(queue));
    return (await this.#find(queue, id)?.share(value)) ?? false;
  }

  async remove(queue: string, id: string): Promise<boolean> {
    try {
      const removed = (await this.#find(queue, id)?.remove()) ?? false;
      this.#forget({ queue, id });
      return removed;
    } catch (error) {
      if (isQueueLockError(error, 'SESSION_LOST')) return false;
      throw error;
    }
  }

  async removeUnclaimed(): Promise<void> {
    if (this.#isResumed) await removeUnclaimed(this.#context, this.#locations.root, this.#entries);
  }

  abandon(): Promise<void> {
    return this.#zk.abandon();
  }

  close(): Promise<void> {
    return this.#zk.close();
  }

  #placement({ entry, spec: { limit, permits = 1 } }: EntryRequest, position: NodePosition): Placement {
    return placementOf(this.#context, { entry, position, rule: { limit, permits } });
  }

  #entryFor(spec: EntrySpec): OwnEntry {
    this.#check(spec);
    this.#queues.set(spec.id, spec.queue);
    return this.#entry(spec);
  }

  #check(spec: EntrySpec): void {
    checkSpec(spec, this.#locations.schemeFor(spec.queue));
    checkQueue(spec, this.#queues.get(spec.id));
  }

  /** Returns the entry with the id `id`, or creates it. */
  #entry({ queue, id }: Pick<EntrySpec, 'queue' | 'id'>): OwnEntry {
    const key = this.#keyOf(queue, id);
    const known = this.#entries.get(key);
    if (known) return known;
    const location = locationOf(this.#locations, queue);
    const entry = new OwnEntry(this.#context, location, { id, isResumed: this.#isResumed });
    this.#entries.set(key, entry);
    return entry;
  }

  /** Returns the entry with the id `id`, if one may be in the queue. */
  #find(queue: string, id: string): OwnEntry | undefined {
    return this.#isResumed ? this.#entry({ queue, id }) : this.#entries.get(this.#keyOf(queue, id));
  }

  #forgetLost(specs: readonly EntrySpec[], error: unknown): void {
    const isLost = isQueueLockError(error, 'ENTRY_LOST');
    for (const spec of specs) if (isLost || !this.#find(spec.queue, spec.id)?.mayBeQueued) this.#forget(spec);
  }

  #forget({ queue, id }: Pick<EntrySpec, 'queue' | 'id'>): void {
    this.#entries.delete(this.#keyOf(queue, id));
    if (this.#queues.get(id) === queue) this.#queues.delete(id);
  }

  #keyOf(queue: string, id: string): string {
    return `${id}/${queue}`; // Ids contain no slash, so no two entries have the same key.
  }
}
