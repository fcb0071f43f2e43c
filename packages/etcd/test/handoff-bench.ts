import type { EntrySpec, Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { etcdMetrics, sumOf } from '@queuelock/harness/services';
import { benchOf, type Bench } from './bench.ts';
import { Clients, eventually, freshQueue, newSpec, type TurnLog } from './clients.ts';
import { keyRequests, keyRequestsIn } from './requests.ts';

type Requests = Readonly<Record<string, number>>;

/** An entry with its session and its spec, and a log of the turns that its client has received. */
export interface QueuedEntry {
  readonly session: Session;
  readonly spec: EntrySpec;
  readonly turns: TurnLog;
}

export const LABEL: string = JSON.stringify({ owner: 'worker', metadata: { job: '7' } });
export const REMOVAL: Requests = { Range: 0, Put: 0, DeleteRange: 1, Txn: 0 };
/** The requests of a removal, by method, if the transaction of the removal checks whether the successor of the entry exists. */
export const REMOVAL_WITH_SUCCESSOR: Requests = { Range: 0, Put: 0, DeleteRange: 0, Txn: 1 };
/**
 * The requests of a hand-over: the holder removes its entry, and the next holder writes its label to announce
 * that it holds alone.
 */
const REMOVAL_AND_NOTE: Requests = { Range: 0, Put: 0, DeleteRange: 1, Txn: 1 };
const QUIET_READS = 3;

/** Provides queues on one server, and counts all requests that the server gets. */
export class HandOffBench {
  /**
   * The server, the proxies and the clients of a suite. Creating them registers hooks of Mocha in that suite.
   */
  readonly at: Bench<Clients> = benchOf(new Clients());

  /** Opens a session that is connected directly to the server. With verified heartbeats it sends no request for the server's version. */
  open(): Promise<Session> {
    return this.at.clients.session({ hosts: this.at.server.endpoint, heartbeatProof: 'verified' });
  }

  async enter(session: Session, queue: string, more: Partial<EntrySpec> = {}): Promise<QueuedEntry> {
    const spec = newSpec(queue, { value: LABEL, ...more });
    return { session, spec, turns: this.at.clients.follow(await session.enqueue(spec)) };
  }

  leave({ session, spec }: QueuedEntry): Promise<boolean> {
    return session.remove(spec.queue, spec.id);
  }

  /** Enqueues `count` entries, each in its own session, and waits until all of them have watches. */
  async enqueueMany(count: number): Promise<QueuedEntry[]> {
    const queue = freshQueue();
    const positions: QueuedEntry[] = [];
    for (let i = 0; i < count; i += 1) positions.push(await this.enter(await this.open(), queue));
    await this.untilQuiet(positions);
    return positions;
  }

  /**
   * Waits until each waiter watches two keys, each holder watches its own key, and no more requests are sent. Resolves with the numbers
   * of requests so far, by method.
   */
  async untilQuiet(positions: readonly QueuedEntry[]): Promise<Requests> {
    const watches = positions.reduce((sum, { turns }) => sum + (turns.turn?.admitted ? 1 : 2), 0);
    let requested: Requests = {};
    let quiet = 0;
    await eventually('all watch, and nothing is asked any more', async () => {
      const metrics = await etcdMetrics(this.at.server.endpoint);
      const now = keyRequestsIn(metrics);
      const isSame = JSON.stringify(now) === JSON.stringify(requested);
      const areLive = sumOf(metrics, 'etcd_debugging_mvcc_watcher_total') === watches;
      quiet = isSame && areLive ? quiet + 1 : 0;
      requested = now;
      return quiet === QUIET_READS;
    });
    return requested;
  }

  /**
   * Releases the first entry and waits for the next hold. Checks that the server gets exactly the `expected`
   * requests, besides those of watches.
   */
  async handOver(positions: readonly QueuedEntry[], expected: Requests): Promise<void> {
    const [first, next] = positions as [QueuedEntry, QueuedEntry];
    const before = await this.untilQuiet(positions);
    const since = (after: Requests): Requests =>
      Object.fromEntries(
        Object.entries(after).map(([method, count]) => [method, count - (before[method] ?? 0)]),
      );
    expect(await this.leave(first)).to.equal(true);
    first.turns.stop();
    await next.turns.untilAdmitted();
    await eventually('the note is written', async () => {
      const requested = await keyRequests(this.at.server.endpoint);
      return since(requested)['Txn'] === expected['Txn'];
    });
    expect(since(await this.untilQuiet(positions.slice(1)))).to.deep.equal(expected);
  }

  /**
   * Lets `size` sessions hold a lock in turn, until the first session holds again. Each session enqueues a
   * new entry after its release.
   */
  async goRound(size: number): Promise<void> {
    const positions = await this.enqueueMany(size);
    for (let i = 0; i <= size; i += 1) {
      await this.handOver(positions, REMOVAL_AND_NOTE);
      const [{ session, spec }] = positions.splice(0, 1) as [QueuedEntry];
      positions.push(await this.enter(session, spec.queue));
    }
  }
}
