import { safely } from '@queuelock/conformance';
import type { EntrySpec, Placement, Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { Etcd3, type Campaign } from 'etcd3';
import { filter, firstValueFrom } from 'rxjs';
import { etcdMetrics, sumOf } from '@queuelock/harness/services';
import { benchOf } from './bench.ts';
import { Clients, eventually, freshQueue, newSpec } from './clients.ts';

const LABEL = JSON.stringify({ owner: 'worker', metadata: {} });

describe('an etcd session', () => {
  const bench = benchOf(new Clients());
  const { clients, hosts } = bench;
  let queue: string;
  let session: Session;

  beforeEach(async () => {
    queue = freshQueue();
    session = await direct();
  });

  const direct = (): Promise<Session> =>
    clients.session({ hosts: bench.server.endpoint, heartbeatProof: 'verified' });

  /** Enqueues and removes an entry. Resolves with the key that it had. */
  async function visit(by: Session, more: Partial<EntrySpec> = {}): Promise<string> {
    const spec = newSpec(queue, more);
    const { key } = await by.enqueue(spec);
    expect(await by.remove(queue, spec.id)).to.equal(true);
    return key;
  }

  describe('reuses the keys of entries that have left', () => {
    it('so that successive locks have one key', async () => {
      const keys = new Set<string>();
      for (let i = 0; i < 30; i += 1) keys.add(await visit(session, { value: LABEL }));
      expect([...keys]).to.have.length(1);
    });

    it('with a new order and token for each entry', async () => {
      const orders: bigint[] = [];
      for (let i = 0; i < 5; i += 1) {
        const spec = newSpec(queue);
        const { order, token, turn } = await session.enqueue(spec);
        expect([token, turn.admitted]).to.deep.equal([order, true]);
        await session.remove(queue, spec.id);
        orders.push(order);
      }
      safely(() => expect(orders).to.deep.equal([...new Set(orders)].sort((a, b) => Number(a - b))));
    });

    it('so that 16 concurrent loops that lock and release use at most 16 keys', async () => {
      const [loops, turns] = [16, 10];
      const keys = new Set<string>();
      let inside = 0;
      const loop = async (): Promise<void> => {
        for (let turn = 0; turn < turns; turn += 1) {
          const spec = newSpec(queue, { value: LABEL });
          const { key, turns$ } = await session.enqueue(spec);
          keys.add(key);
          const admitted$ = turns$.pipe(filter(({ admitted }) => admitted));
          await firstValueFrom(admitted$, { defaultValue: undefined });
          inside += 1;
          safely(() => expect(inside).to.equal(1));
          await Promise.resolve();
          inside -= 1;
          await session.remove(queue, spec.id);
        }
      };
      await Promise.all(Array.from({ length: loops }, loop));
      expect(keys.size).to.be.at.most(loops);
    });

    it('also for tryEnqueue, which may find the queue busy', async () => {
      const other = await direct();
      const keys = new Set<string>();
      for (let i = 0; i < 5; i += 1) {
        const held = newSpec(queue);
        await other.enqueue(held);
        expect(await session.tryEnqueue(newSpec(queue))).to.equal(undefined);
        await other.remove(queue, held.id);
        const spec = newSpec(queue);
        keys.add((await session.tryEnqueue(spec))!.key);
        await session.remove(queue, spec.id);
      }
      expect([...keys]).to.have.length(1);
    });

    it('also for shared entries and entries with several permits', async () => {
      const key = await visit(session);
      expect(await visit(session, { shared: true })).to.equal(`${key}~r`);
      expect(await visit(session, { limit: 3, permits: 2 })).to.equal(`${key}~2of3`);
      expect(await visit(session)).to.equal(key);
    });

    it('also in calls that enter several queues', async () => {
      const queues = [freshQueue(), freshQueue()];
      const together = async (): Promise<string[]> => {
        const specs = queues.map((name) => newSpec(name));
        const placements = (await session.enqueueAll?.(specs)) ?? [];
        for (const spec of specs) await session.remove(spec.queue, spec.id);
        return placements.map(({ key }) => key);
      };
      expect(await together()).to.deep.equal(await together());
    });

    it('also after a hold whose trace was written and removed', async () => {
      const keys = new Set<string>();
      for (let i = 0; i < 3; i += 1) {
        const spec = newSpec(queue);
        keys.add((await session.enqueue(spec)).key);
        expect(await session.traces?.leave(queue, spec.id)).to.deep.equal([]);
        expect(await session.remove(queue, spec.id)).to.equal(true);
      }
      expect([...keys]).to.have.length(1);
      expect(await bench.operator.keysUnder(`.queuelock/held/${queue}/`)).to.deep.equal([]);
    });

    it('but not of entries with a published value or a single key', async () => {
      const published = { value: 'node-7' };
      expect(await visit(session, published)).to.not.equal(await visit(session, published));
      const single = await clients.session({
        hosts: bench.server.endpoint,
        singleKey: (name) => `single-${name}`,
      });
      expect(await visit(single)).to.not.equal(await visit(single));
      queue = `election/${queue}`;
      expect(await visit(session)).to.not.equal(await visit(session));
    });
  });

  /**
   * Two entries that had the same key one after the other, each with what its enqueue returned. The first entry (`first`) has left. The second entry
   * (`again`) is behind a waiter that waited for the first one.
   */
  interface Scene {
    readonly first: Placement;
    readonly again: Placement;
    readonly spec: EntrySpec;
  }

  async function passBehind(first: Placement, held: EntrySpec): Promise<Scene> {
    expect(await session.remove(queue, held.id)).to.equal(true);
    const spec = newSpec(queue);
    const again = await session.enqueue(spec);
    expect([again.key, again.turn.admitted]).to.deep.equal([first.key, false]);
    safely(() => expect(again.order > first.order).to.equal(true));
    return { first, again, spec };
  }

  describe('when it reuses a key that a waiter waits for', () => {
    const watchers = async (): Promise<number> =>
      sumOf(await etcdMetrics(bench.server.endpoint), 'etcd_debugging_mvcc_watcher_total');

    it('does not delay a waiter that has not yet read the queue', async () => {
      const held = newSpec(queue);
      const first = await session.enqueue(held);
      const waiter = await (await direct()).enqueue(newSpec(queue));
      const { again } = await passBehind(first, held);
      const behind = clients.follow(again);
      await clients.follow(waiter).untilAdmitted();
      safely(() => expect(behind.turn?.admitted).to.equal(false));
    });

    it('does not delay a waiter whose connections are cut', async () => {
      const waiting = await clients.session({ hosts: hosts(), heartbeatProof: 'verified' });
      const held = newSpec(queue);
      const first = await session.enqueue(held);
      const turns = clients.follow(await waiting.enqueue(newSpec(queue)));
      await eventually('its watches are live', async () => (await watchers()) === 2);
      for (const proxy of bench.proxies) {
        proxy.refuse();
        proxy.cut();
      }
      const { again } = await passBehind(first, held);
      await Promise.all(bench.proxies.map((proxy) => proxy.accept()));
      await turns.untilAdmitted();
      expect(clients.follow(again).turn?.admitted).to.equal(false);
    });

    it('shows the key at its new position to observers', async () => {
      const backend = clients.backend({ hosts: bench.server.endpoint });
      const seen: string[] = [];
      const observing = backend
        .observe(queue)
        .subscribe((entries) => seen.push(entries.map(({ key, order }) => `${order} ${key}`).join()));
      const held = newSpec(queue);
      const first = await session.enqueue(held);
      const waiter = await (await direct()).enqueue(newSpec(queue));
      const { again } = await passBehind(first, held);
      const line = [waiter, again].map(({ key, order }) => `${order} ${key}`).join();
      await eventually('the line is seen', () => seen.at(-1) === line);
      observing.unsubscribe();
      const { changes } = await backend.history!(queue, new AbortController().signal);
      expect(changes.map(({ kind, entry }) => `${kind} ${entry.order}`)).to.deep.equal([
        `joined ${first.order}`,
        `joined ${waiter.order}`,
        `left ${first.order}`,
        `joined ${again.order}`,
      ]);
    });

    it('does not lose the new entry when the removal of the earlier entry arrives late', async () => {
      const held = newSpec(queue);
      const first = await session.enqueue(held);
      await (await direct()).enqueue(newSpec(queue));
      const { again, spec } = await passBehind(first, held);
      const backend = clients.backend({ hosts: bench.server.endpoint });
      expect(await backend.evict?.(queue, first)).to.equal(false);
      expect(await session.update(queue, held.id, 'late')).to.equal(false);
      expect(await session.remove(queue, held.id)).to.equal(false);
      expect(await backend.evict?.(queue, again)).to.equal(true);
      expect(await session.remove(queue, spec.id)).to.equal(false);
    });
  });

  it('does not delay a candidate of npm etcd3, which waits for a key whichever entry created it', async () => {
    const [proxy] = bench.proxies;
    const theirs = new Etcd3({ hosts: proxy.endpoint });
    const name = queue;
    queue = `election/${name}`;
    try {
      const held = newSpec(queue);
      await session.enqueue(held);
      const campaign: Campaign = theirs.election(name, 30).campaign('theirs');
      let elected = false;
      campaign.on('elected', () => (elected = true));
      // Holds back the requests of the candidate in npm etcd3's election: it has listed the queue, and has not yet read the key that it found there.
      await new Promise<void>((resolve) => {
        (campaign as NodeJS.EventEmitter).once('_isWaiting', () => {
          proxy.toServer.hold();
          resolve();
        });
      });
      await session.remove(queue, held.id);
      await session.enqueue(newSpec(queue));
      await proxy.heal();
      await eventually('it is elected', () => elected);
      await campaign.resign();
    } finally {
      theirs.close();
    }
  });
});
