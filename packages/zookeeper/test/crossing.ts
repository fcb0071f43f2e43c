import { repeatUntilDefinite, type EntrySpec, type Placement, type Session } from '@queuelock/core/backend';
import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { gateDirectory } from '../src/queue/names.ts';
import { Bench, allAdmitted, eventually, newQueue, newSpecs } from './bench.ts';
import { OpCode, requestsIn } from './frames.ts';
import { asOperator } from './operator.ts';

/**
 * Defines tests in which sessions enqueue `count` pairs of entries in two queues, half of them in the
 * opposite order.
 */
export function describeCrossing(count: number): void {
  describe('concurrent enqueues of pairs of entries in two ZooKeeper queues', () => {
    const bench = new Bench();
    let server: string;
    let proxy: TcpProxy;
    let a: string;
    let b: string;

    beforeEach(async () => {
      server = (await sharedZooKeeper('entering several queues of @queuelock/zookeeper')).endpoint;
      proxy = bench.keep(await startProxy(server), (started) => {
        started.refuse();
        started.cut();
      });
      [a, b] = [newQueue(), newQueue()];
    });
    afterEach(() => bench.clear());

    function names(directory: string): Promise<readonly string[]> {
      return asOperator(server, async (zk) => (await zk.children(directory)) ?? []);
    }

    async function sizes(): Promise<readonly number[]> {
      return [(await names(`/${a}`)).length, (await names(`/${b}`)).length];
    }

    /**
     * Returns whether the gate is empty: no client is about to enqueue several entries. Ignores the gates of
     * registers, whose directories are below the gate's directory.
     */
    async function isGateEmpty(): Promise<boolean> {
      return !(await names(gateDirectory(''))).some((name) => name.startsWith('_c_'));
    }

    describe('from four sessions, half of them in the opposite order', () => {
      /**
       * Enqueues the pairs in four sessions at the same time. Half of the pairs name the two queues in the
       * opposite order.
       */
      async function cross(
        endpoint: string,
        enter: (session: Session, specs: EntrySpec[]) => Promise<Pair>,
      ): Promise<Pair[]> {
        const sessions = await Promise.all(Array.from({ length: 4 }, () => bench.session(endpoint)));
        return Promise.all(
          Array.from({ length: count }, (_, at) => {
            const session = sessions[at % sessions.length]!;
            return enter(session, at % 8 < 4 ? newSpecs(a, b) : newSpecs(b, a));
          }),
        );
      }

      it('never make two pairs wait for each other', async () => {
        const pairs = await cross(server, async (session, specs) => ({
          session,
          specs,
          placements: await session.enqueueAll!(specs),
        }));
        safely(() => expect(crossings(pairs)).to.equal(0));
        await serveAll(pairs);
        expect(await sizes()).to.deep.equal([0, 0]);
      });

      it('never make two pairs wait for each other while connections break repeatedly', async () => {
        // All connections break while every seventh transaction is in flight.
        let passages = 0;
        let breaks = 0;
        proxy.onClientData = (chunk) => {
          if (!requestsIn(chunk).includes(OpCode.multi)) return;
          passages += 1;
          if (passages % 7 !== 0) return;
          breaks += 1;
          setImmediate(() => proxy.cut());
        };
        const until = new AbortController().signal;
        // Each session enqueues its pairs of entries one after another. Otherwise most pairs would be sent
        // together in one packet.
        const last = new Map<Session, Promise<unknown>>();
        const pairs = await cross(proxy.endpoint, async (session, specs) => {
          const enter = (): Promise<readonly Placement[]> =>
            repeatUntilDefinite(() => session.enqueueAll!(specs), until);
          const entered = (last.get(session) ?? Promise.resolve()).then(enter);
          last.set(session, entered);
          return { session, specs, placements: await entered };
        });
        expect(breaks).to.be.at.least(Math.floor(count / 7));
        proxy.onClientData = undefined;
        safely(() => expect(crossings(pairs)).to.equal(0));
        expect(await sizes()).to.deep.equal([count, count]);
        await serveAll(pairs);
        expect(await sizes()).to.deep.equal([0, 0]);
        await eventually(isGateEmpty);
      });

      it('never make two pairs wait for each other while half of the sessions have no transactions', async () => {
        const others = await Promise.all([1, 2].map(() => bench.session(server, 10_000, 'native')));
        const until = new AbortController().signal;
        let turn = 0;
        const pairs = await cross(server, async (own, specs) => {
          turn += 1;
          const session = turn % 2 === 0 ? own : others[turn % 4 === 1 ? 0 : 1]!;
          const enter = (): Promise<readonly Placement[]> => session.enqueueAll!(specs);
          return { session, specs, placements: await repeatUntilDefinite(enter, until) };
        });
        safely(() => expect(crossings(pairs)).to.equal(0));
        await serveAll(pairs);
        expect(await sizes()).to.deep.equal([0, 0]);
      });

      it('make pairs wait for each other if sessions enqueue the entries one by one, without enqueueAll', async () => {
        const pairs = await cross(server, async (session, specs) => {
          const placements: Placement[] = [];
          for (const spec of specs) placements.push(await session.enqueue(spec));
          return { session, specs, placements };
        });
        expect(crossings(pairs)).to.be.greaterThan(0);
      });
    });
  });
}

interface Pair {
  readonly session: Session;
  readonly specs: readonly EntrySpec[];
  readonly placements: readonly Placement[];
}

/** Waits until each pair of entries is admitted in both queues, and then removes it. */
async function serveAll(pairs: readonly Pair[]): Promise<void> {
  const until = new AbortController().signal;
  await Promise.all(
    pairs.map(async ({ session, specs, placements }) => {
      await allAdmitted(placements);
      for (const { queue, id } of specs) await repeatUntilDefinite(() => session.remove(queue, id), until);
    }),
  );
}

/**
 * Counts pairs of calls that could deadlock: the entry of one call is ahead in one queue and behind in the
 * other.
 */
function crossings(pairs: readonly Pair[]): number {
  const orders = pairs.map(({ placements }) =>
    [...placements].sort((x, y) => x.key.localeCompare(y.key)).map(({ order }) => order),
  );
  let count = 0;
  for (const [x1, x2] of orders) for (const [y1, y2] of orders) if (x1! < y1! && x2! > y2!) count += 1;
  return count;
}
