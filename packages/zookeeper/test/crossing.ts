import { repeatUntilDefinite, type EntrySpec, type Placement, type Session } from '@queuelock/core/backend';
import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { gateDirectory } from '../src/queue/names.ts';
import { Bench, allAdmitted, eventually, newQueue, wishes } from './bench.ts';
import { OpCode, requestsIn } from './frames.ts';
import { asOperator } from './operator.ts';

/** What so many pairs may do that cross. */
export function describeCrossing(count: number): void {
  describe('entering several queues of ZooKeeper at once', () => {
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

    /** Nobody passes the gate any more; those of registers stay. */
    async function isGateEmpty(): Promise<boolean> {
      return !(await names(gateDirectory(''))).some((name) => name.startsWith('_c_'));
    }

    describe('from four sessions, each pair in its own order', () => {
      /** Each session enters its pairs, in alternating order and all at the same time. */
      async function cross(
        endpoint: string,
        enter: (session: Session, specs: EntrySpec[]) => Promise<Pair>,
      ): Promise<Pair[]> {
        const sessions = await Promise.all(Array.from({ length: 4 }, () => bench.session(endpoint)));
        return Promise.all(
          Array.from({ length: count }, (_, at) => {
            const session = sessions[at % sessions.length]!;
            return enter(session, at % 8 < 4 ? wishes(a, b) : wishes(b, a));
          }),
        );
      }

      it('never has two pairs wait for each other, and all have their turn', async () => {
        const pairs = await cross(server, async (session, specs) => ({
          session,
          specs,
          placements: await session.enqueueAll!(specs),
        }));
        safely(() => expect(crossings(pairs)).to.equal(0));
        await serveAll(pairs);
        expect(await sizes()).to.deep.equal([0, 0]);
      });

      it('never has two pairs wait for each other while connections break again and again', async () => {
        // Each time another seven went in, all connections break: with the creates of one of them on their way.
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
        // One after the other in each session, or most would go in one piece.
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

      it('never has two pairs wait for each other while half of the sessions go through the gate', async () => {
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

      it('has pairs that wait for each other when they go one by one: that is what the gate is for', async () => {
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

/** Each pair waits until it has both, and leaves. */
async function serveAll(pairs: readonly Pair[]): Promise<void> {
  const until = new AbortController().signal;
  await Promise.all(
    pairs.map(async ({ session, specs, placements }) => {
      await allAdmitted(placements);
      for (const { queue, id } of specs) await repeatUntilDefinite(() => session.remove(queue, id), until);
    }),
  );
}

/** How many pairs of pairs stand in one order in one queue, and in the other in the other. */
function crossings(pairs: readonly Pair[]): number {
  const orders = pairs.map(({ placements }) =>
    [...placements].sort((x, y) => x.key.localeCompare(y.key)).map(({ order }) => order),
  );
  let count = 0;
  for (const [x1, x2] of orders) for (const [y1, y2] of orders) if (x1! < y1! && x2! > y2!) count += 1;
  return count;
}
