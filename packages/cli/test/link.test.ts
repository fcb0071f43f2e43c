import { createLockClient, type ClaimState, type LockClient } from '@queuelock/core';
import {
  createMemoryServer,
  memory,
  virtualClock,
  type MemoryServer,
  type VirtualClock,
} from '@queuelock/memory';
import { expect } from 'chai';
import { safely } from '@queuelock/harness/safety';
import { Link, type StoreNotification } from '../src/contend/link.ts';

const TTL_MS = 3_000;

describe('the link of a contender to its store', () => {
  let clock: VirtualClock;
  let server: MemoryServer;
  const clients: LockClient[] = [];

  beforeEach(() => {
    clock = virtualClock();
    server = createMemoryServer({ clock });
  });
  afterEach(async () => {
    const closed = Promise.all(clients.splice(0).map((client) => client.close()));
    await clock.advance(2 * TTL_MS);
    await closed;
    server.close();
    expect(clock.timerCount).to.equal(0);
  });

  /**
   * Starts a client with a claim on the memory backend. Returns the claim's states, the link that can cut the
   * client off from the store, and the notifications that the link has observed.
   */
  function contender(): {
    readonly link: Link;
    readonly news: StoreNotification[];
    readonly states: ClaimState[];
  } {
    const news: StoreNotification[] = [];
    const states: ClaimState[] = [];
    const link = new Link((one) => news.push(one));
    const client = createLockClient(link.wrap(memory({ server })), { ttlMs: TTL_MS, clock });
    clients.push(client);
    client.claim('q').subscribe((state) => states.push(state));
    return { link, news, states };
  }
  const statusOf = ({ states }: { readonly states: readonly ClaimState[] }): string | undefined =>
    states.at(-1)?.status;

  it('observes that each release notifies exactly one waiter', async () => {
    const all = [];
    for (let n = 0; n < 4; n += 1) {
      all.push(contender());
      await clock.advance(10);
    }
    const [a, b] = all as [ReturnType<typeof contender>, ReturnType<typeof contender>];
    expect(all.map(({ news }) => news.length)).to.deep.equal([0, 0, 0, 0]);
    const held = a.states.at(-1)!;
    if (held.status === 'held') void held.ownership.release();
    await clock.advance(10);
    expect(statusOf(b)).to.equal('held');
    expect(all.map(({ news }) => news)).to.deep.equal([[], [{ admitted: true }], [], []]);
  });

  it('ends the hold of the contender when the link is cut, before the next hold begins', async () => {
    const [a, b] = [contender(), contender()];
    await clock.advance(10);
    a.link.cut();
    let lostAt: number | undefined;
    while (statusOf(b) !== 'held') {
      await clock.advance(10);
      if (lostAt === undefined && statusOf(a) === 'ended') lostAt = clock.now();
      expect(clock.now()).to.be.below(2 * TTL_MS);
    }
    safely(() => expect(lostAt).to.be.below(clock.now()));
  });

  it('keeps the hold when the link is cut and restored within the proven time', async () => {
    const a = contender();
    await clock.advance(10);
    a.link.cut();
    await clock.advance(TTL_MS / 2);
    a.link.mend();
    await clock.advance(2 * TTL_MS);
    expect(statusOf(a)).to.equal('held');
  });

  it('delivers no notification while it is cut', async () => {
    const [a, b] = [contender(), contender()];
    await clock.advance(10);
    b.link.cut();
    const held = a.states.at(-1)!;
    if (held.status === 'held') void held.ownership.release();
    await clock.advance(100);
    expect([statusOf(b), b.news]).to.deep.equal(['queued', []]);
    b.link.mend();
    await clock.advance(10);
    expect([statusOf(b), b.news]).to.deep.equal(['held', [{ admitted: true }]]);
  });
});
