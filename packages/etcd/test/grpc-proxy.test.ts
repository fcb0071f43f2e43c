import { expect } from 'chai';
import type { Placement, StoredEntry, Session } from '@queuelock/core/backend';
import type { EtcdOptions } from '@queuelock/etcd';
import { startEtcdGrpcProxy } from '@queuelock/harness/services/etcd-grpc-proxy';
import type { ProcessService } from '@queuelock/harness/services/service';
import { Clients, eventually, freshQueue, newSpec } from './clients.ts';
import { OwnServer } from './own-server.ts';

/** An entry, with the session that enqueued it and what the enqueue returned: its key, order number and turns. */
interface Entered {
  readonly session: Session;
  readonly queue: string;
  readonly id: string;
  readonly placement: Placement;
}

for (const transport of ['etcd3', 'http2', 'socket'] as const)
  describe(`etcd grpc-proxy, over ${transport}`, () => {
    const own = new OwnServer();
    const clients = new Clients();
    let proxy: ProcessService;
    let options: EtcdOptions;

    before(async () => {
      proxy = await startEtcdGrpcProxy(own.server);
      options = { hosts: proxy.endpoint, transport };
    });
    after(() => proxy.stop());
    afterEach(() => clients.close());

    async function enter(session: Session, queue: string): Promise<Entered> {
      const spec = newSpec(queue);
      return { session, queue, id: spec.id, placement: await session.enqueue(spec) };
    }

    async function leave({ session, queue, id }: Entered): Promise<void> {
      expect(await session.remove(queue, id)).to.equal(true);
    }

    it('does not admit a client in one queue when its entry in another queue is removed', async () => {
      const [holding, waiting] = [await clients.session(options), await clients.session(options)];
      /**
       * Hands over the lock of a new queue from the session `holding` to the session `waiting`. Afterwards, all earlier messages on the streams of
       * both sessions have arrived.
       */
      const handOver = async (): Promise<void> => {
        const held = await enter(holding, freshQueue());
        const turns = clients.follow((await enter(waiting, held.queue)).placement);
        await leave(held);
        await turns.untilAdmitted();
      };
      const [x, y] = [freshQueue(), freshQueue()];
      for (const queue of [x, y]) await enter(holding, queue);
      const turnsX = clients.follow((await enter(waiting, x)).placement);
      const waitingY = await enter(waiting, y);
      const turnsY = clients.follow(waitingY.placement);
      await handOver();
      await leave(waitingY);
      await handOver();
      expect([turnsX.wasAdmitted, turnsX.error]).to.deep.equal([false, undefined]);
      expect(turnsY.wasAdmitted).to.equal(false);
    });

    it("keeps a client's hold in one queue when the client leaves another queue", async () => {
      const holder = await clients.session(options);
      const [x, y] = [await enter(holder, freshQueue()), await enter(holder, freshQueue())];
      const [turnsX, turnsY] = [clients.follow(x.placement), clients.follow(y.placement)];
      await Promise.all([turnsX.untilAdmitted(), turnsY.untilAdmitted()]);
      const waiter = clients.follow((await enter(await clients.session(options), y.queue)).placement);
      await leave(y);
      await waiter.untilAdmitted();
      expect(turnsX.error).to.equal(undefined);
    });

    it('lets clients hand a lock over in the order of the queue', async () => {
      const queue = freshQueue();
      const line: (Entered & { readonly turns: ReturnType<Clients['follow']> })[] = [];
      for (let i = 0; i < 6; i += 1) {
        const entered = await enter(await clients.session(options), queue);
        line.push({ ...entered, turns: clients.follow(entered.placement) });
      }
      for (const [i, entered] of line.entries()) {
        await entered.turns.untilAdmitted();
        expect(line.slice(i + 1).map(({ turns }) => [turns.wasAdmitted, turns.error])).to.deep.equal(
          line.slice(i + 1).map(() => [false, undefined]),
        );
        await leave(entered);
      }
    });

    it('shows observers of two queues the changes of each queue', async () => {
      const session = await clients.session(options);
      const backend = clients.backend(options);
      const queues = [freshQueue(), freshQueue()];
      const seen: (readonly StoredEntry[])[] = [];
      const observing = queues.map((queue, i) =>
        backend.observe(queue).subscribe((entries) => (seen[i] = entries)),
      );
      const depths = (first: number, second: number) => (): boolean =>
        seen[0]?.length === first && seen[1]?.length === second;
      await eventually('both are empty', depths(0, 0));
      const [first, second] = [await enter(session, queues[0] ?? ''), await enter(session, queues[1] ?? '')];
      await eventually('both have an entry', depths(1, 1));
      await leave(first);
      await eventually('the first is empty', depths(0, 1));
      await leave(second);
      await eventually('both are empty again', depths(0, 0));
      for (const subscription of observing) subscription.unsubscribe();
    });

    it('still runs and admits waiters after a request to the server behind it has failed', async () => {
      const holder = await enter(await clients.session(options), freshQueue());
      const waiting = await clients.session({ ...options, requestTimeoutMs: 300 });
      const turns = clients.follow((await enter(waiting, holder.queue)).placement);
      await eventually('the waiter waits', () => turns.turn?.admitted === false);
      await own.server.freeze();
      await waiting.enqueue(newSpec(freshQueue())).catch(() => undefined);
      await own.server.thaw();
      await leave(holder);
      await turns.untilAdmitted();
      expect(proxy.pid).to.be.a('number');
    });
  });
