import { systemClock, type Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { connect } from '../src/server/connect.ts';
import { settingsOf } from '../src/api/options.ts';
import { ConnectionPacer } from '../src/base/connection-pacer.ts';
import { Bench, newQueue, outcome, newSpec } from './bench.ts';
import { asOperator } from './operator.ts';
import { fakeServer, welcoming } from './wire/fake-server.ts';

describe('a loss that a call to ZooKeeper finds first', () => {
  const bench = new Bench();
  afterEach(() => bench.clear());

  for (const [what, call] of [
    ['an update', (session: Session, queue: string, id: string) => session.update(queue, id, 'x')],
    ['a downgrade', (session: Session, queue: string, id: string) => session.share!(queue, id, 'x')],
    ['a trace', (session: Session, queue: string, id: string) => session.traces!.leave(queue, id)],
  ] as const) {
    it(`is reported immediately when a call (${what}) finds that the entry was removed`, async () => {
      const { endpoint } = await sharedZooKeeper('losses of @queuelock/zookeeper');
      const session = await bench.session(endpoint);
      const spec = newSpec(newQueue());
      await asOperator(endpoint, async (zk) => {
        const { key, turns$ } = await session.enqueue(spec);
        let ended: unknown;
        // The holder sets a watch on its own node only 250 ms after the grant, so the watch cannot report the
        // loss.
        turns$.subscribe({ error: (error: unknown) => (ended = error) });
        await zk.delete(key);
        await outcome(Promise.resolve(call(session, spec.queue, spec.id)));
        expect(String(ended)).to.include('ENTRY_LOST');
      });
    });
  }

  it('is reported to all users of the session when a reply shows its expiry', async () => {
    const server = await fakeServer(
      bench,
      welcoming(10_000, (peer, { xid }) => peer.reply({ xid, err: -112 })),
    );
    const clock = systemClock();
    const { signal } = new AbortController();
    const settings = settingsOf({ hosts: [server.endpoint] });
    const zk = await connect(settings, { ttlMs: 10_000, clock, pacer: new ConnectionPacer(clock), signal });
    let ended: unknown;
    zk.ended$.subscribe({ error: (error: unknown) => (ended = error) });
    expect(await outcome(zk.write('/a', ''))).to.equal('SESSION_LOST');
    expect(String(ended)).to.include('SESSION_LOST');
  });
});
