import { safely } from '@queuelock/conformance';
import type { Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { codeOf, eventually, freshQueue } from './clients.ts';
import { HandOffBench, LABEL, REMOVAL, REMOVAL_WITH_SUCCESSOR, type QueuedEntry } from './handoff-bench.ts';

describe('a hand-off on etcd', () => {
  const bench = new HandOffBench();

  const leave = (position: QueuedEntry): Promise<boolean> => bench.leave(position);
  const line = (count: number): Promise<QueuedEntry[]> => bench.enqueueMany(count);
  const admitted = (positions: readonly QueuedEntry[]): boolean[] =>
    positions.map(({ turns }) => turns.turn?.admitted === true);

  it('between waiters of one session needs only one request, the removal', async () => {
    const queue = freshQueue();
    const session = await bench.open();
    const positions: QueuedEntry[] = [];
    for (let i = 0; i < 5; i += 1) positions.push(await bench.enter(session, queue));
    while (positions.length > 2) {
      await bench.handOver(positions, REMOVAL_WITH_SUCCESSOR);
      positions.shift();
    }
  });

  it("between processes needs only one request, the removal, when the next entry's value is not a label", async () => {
    const queue = freshQueue();
    const positions = [
      await bench.enter(await bench.open(), queue),
      await bench.enter(await bench.open(), queue, { value: 'published' }),
      await bench.enter(await bench.open(), queue),
    ];
    await bench.handOver(positions, REMOVAL);
  });

  it("among 3 processes needs one removal and one write of the next holder's label, but no read", () =>
    bench.goRound(3));

  it('hides from observers the announcement that a holder adds to its label', async () => {
    const positions = await line(3);
    const [first, second, third] = positions as [QueuedEntry, QueuedEntry, QueuedEntry];
    const seen: string[] = [];
    const observing = bench.at.clients
      .backend({ hosts: bench.at.server.endpoint })
      .observe(first.spec.queue)
      .subscribe((entries) => seen.push(entries.map(({ value }) => value === LABEL).join()));
    await eventually('the line is seen', () => seen.length === 1);
    await leave(first);
    await second.turns.untilAdmitted();
    await leave(second);
    await third.turns.untilAdmitted();
    await leave(third);
    await eventually('the empty queue is seen', () => seen.at(-1) === '');
    expect(seen).to.deep.equal(['true,true,true', 'true,true', 'true', '']);
    observing.unsubscribe();
  });

  for (const [about, goes] of [
    ['is cancelled', leave],
    ['is removed by an operator', ({ turns }: QueuedEntry) => bench.at.operator.remove(turns.key)],
    ['loses its session', ({ session }: QueuedEntry) => bench.at.operator.revoke(session.id)],
    [
      'changes its label and is cancelled',
      async (position: QueuedEntry) => {
        await position.session.update(position.spec.queue, position.spec.id, LABEL.replace('7', '8'));
        await leave(position);
      },
    ],
  ] as const) {
    it(`does not admit the last waiter when the waiter between it and the holder ${about}`, async () => {
      const [first, second, third] = (await line(3)) as [QueuedEntry, QueuedEntry, QueuedEntry];
      second.turns.stop();
      await goes(second);
      await bench.untilQuiet([first, third]);
      safely(() => expect(admitted([first, third])).to.deep.equal([true, false]));
      await leave(first);
      await third.turns.untilAdmitted();
    });
  }

  it('admits the third entry when the first loses its session while the second is cancelled', async () => {
    const [first, second, third] = (await line(3)) as [QueuedEntry, QueuedEntry, QueuedEntry];
    await Promise.all([leave(second), bench.at.operator.revoke(first.session.id)]);
    await third.turns.untilAdmitted();
  });

  it('admits the next waiter when a holder whose label announces its hold loses its session', async () => {
    const [first, second, third] = (await line(3)) as [QueuedEntry, QueuedEntry, QueuedEntry];
    await leave(first);
    await second.turns.untilAdmitted();
    await bench.at.operator.revoke(second.session.id);
    await third.turns.untilAdmitted();
  });

  it('skips an entry that an operator has removed just before the hand-off', async () => {
    const [first, second, third] = (await line(3)) as [QueuedEntry, QueuedEntry, QueuedEntry];
    await bench.at.operator.remove(second.turns.key);
    await leave(first);
    expect(await second.turns.untilLost()).to.have.property('code', 'ENTRY_LOST');
    safely(() => expect(admitted([second])).to.deep.equal([false]));
    await third.turns.untilAdmitted();
  });

  it('does not admit a waiter whose entry was removed while its connections were cut', async () => {
    const queue = freshQueue();
    const first = await bench.enter(await bench.open(), queue);
    const session = await bench.at.clients.session({ hosts: bench.at.hosts() });
    const second = await bench.enter(session, queue);
    await bench.untilQuiet([first, second]);
    for (const proxy of bench.at.proxies) {
      proxy.refuse();
      proxy.cut();
    }
    await bench.at.operator.remove(second.turns.key);
    await leave(first);
    await Promise.all(bench.at.proxies.map((proxy) => proxy.accept()));
    expect(await second.turns.untilLost()).to.have.property('code', 'ENTRY_LOST');
    safely(() => expect(admitted([second])).to.deep.equal([false]));
  });

  it('waits for the confirmed removal if the client knows no larger fencing token for the next holder', async () => {
    const queue = freshQueue();
    const session = await bench.at.clients.session({
      hosts: bench.at.proxies[0].endpoint,
      requestTimeoutMs: 1_000,
    });
    const [first, second, third] = [
      await bench.enter(await bench.open(), queue),
      await bench.enter(session, queue),
      await bench.enter(session, queue),
    ];
    await bench.untilQuiet([first, second, third]);
    await leave(first);
    await second.turns.untilAdmitted();
    bench.at.proxies[0].toServer.blackhole();
    expect(await codeOf(leave(second))).to.equal('UNAVAILABLE');
    await bench.at.proxies[0].heal();
    await eventually('the session is well again', async () => (await heartbeat(session)) > 0);
    safely(() => expect(admitted([third])).to.deep.equal([false]));
    expect(await leave(second)).to.equal(true);
    await third.turns.untilAdmitted();
  });
});

const heartbeat = (session: Session): Promise<number> =>
  session.renew(new AbortController().signal).catch(() => 0);
