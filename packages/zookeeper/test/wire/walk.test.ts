import { expect } from 'chai';
import fc from 'fast-check';
import { Bench, eventually, outcome } from '../bench.ts';
import { driverTo } from './clients.ts';
import { eventFrame, putStat, replyFrame, withLength } from './fake-frames.ts';
import { fakeServer, type Part, type Peer } from './fake-server.ts';

const WALKS = 40;
const CALLS = 12;
const USERS = 5;
const NO_NODE = -101;
const CREATE2 = 15;
const TOKEN = 7n;
const CLOSE = -11;

/** What a simulated server does when a request of a client arrives. */
type Reaction = 'answer' | 'close' | 'answer and close' | 'answer with an event' | 'nonsense' | 'silence';

const reaction = fc.oneof(
  { weight: 20, arbitrary: fc.constant<Reaction>('answer') },
  { weight: 6, arbitrary: fc.constantFrom<Reaction>('answer with an event', 'answer and close') },
  { weight: 2, arbitrary: fc.constantFrom<Reaction>('close', 'nonsense') },
  { weight: 1, arbitrary: fc.constant<Reaction>('silence') },
);
const walk = fc.record({
  reactions: fc.array(reaction, { minLength: 40, maxLength: 40 }),
  hellos: fc.array(fc.constantFrom('welcome', 'welcome', 'welcome', 'close', 'read-only', 'expired'), {
    minLength: 3,
    maxLength: 8,
  }),
  ending: fc.constantFrom('close', 'abandon'),
});
type Walk = typeof walk extends fc.Arbitrary<infer T> ? T : never;

/**
 * Returns a simulated server with two lists: its reactions to requests, and its replies to the first messages
 * of clients. It uses one item for each message. When a list ends, it continues as a normal server.
 */
function partOf({ reactions, hellos }: Walk): Part {
  const nextReactions = [...reactions];
  const nextHellos = ['welcome', ...hellos];
  return {
    hello: (peer, { session }) => {
      const hello = nextHellos.shift() ?? 'welcome';
      const id = session === 0n ? 1n : session;
      if (hello === 'close') peer.socket.destroy();
      else if (hello === 'expired') peer.welcome({ timeoutMs: 0, id: 0n });
      else peer.welcome({ timeoutMs: 900, id, isReadOnly: hello === 'read-only' });
    },
    request: (peer, { xid, type, body }) => {
      if (xid === -2) peer.reply({ xid });
      else if (type === CLOSE) peer.reply({ xid });
      else
        doTo(
          peer,
          nextReactions.shift() ?? 'answer',
          replyTo(xid, type === CREATE2 ? body.text() : undefined),
        );
    },
  };
}

/** Encodes the reply to a request. A create succeeds, and all other requests find no node. */
function replyTo(xid: number, created: string | undefined): Buffer {
  if (created === undefined) return replyFrame({ xid, err: NO_NODE });
  return replyFrame({ xid, body: (writer) => putStat(writer.text(created), TOKEN) });
}

function doTo(peer: Peer, what: Reaction, reply: Buffer): void {
  if (what === 'close') peer.socket.destroy();
  if (what === 'nonsense') peer.send(Buffer.alloc(3));
  if (what === 'answer') peer.send(reply);
  if (what === 'answer with an event') peer.send(eventFrame(3, '/some'), reply, eventFrame(2, '/some'));
  if (what === 'answer and close') peer.socket.end(withLength(reply));
}

describe('a ZooKeeper session with any behavior of its server', () => {
  const bench = new Bench();
  afterEach(() => bench.clear());

  async function goes(way: Walk, name: string): Promise<void> {
    const fake = await fakeServer(bench, partOf(way));
    const driver = driverTo(bench, fake.endpoint, { ttlMs: 900 });
    const notifications: string[] = [];
    let ends = 0;
    driver.connection$.subscribe(({ status }) => notifications.push(status));
    driver.ended$.subscribe({ error: () => (ends += 1), complete: () => (ends += 1) });
    const user = async (index: number): Promise<void> => {
      for (let call = 0; call < CALLS; call += 1) {
        const path = `/${name}-${index}-${call}`;
        const made = driver.create(path, '', 'persistent').then((created) => {
          expect(created).to.deep.equal({ path, czxid: TOKEN });
        });
        const lastRead = driver.stat(path).then((stat) => expect(stat).to.equal(undefined));
        for (const code of await Promise.all([outcome(made), outcome(lastRead)]))
          expect(code).to.be.oneOf(['fine', 'UNAVAILABLE', 'SESSION_LOST']);
      }
    };
    await Promise.all(Array.from({ length: USERS }, (_, index) => user(index)));
    const last = outcome(driver.sync());
    await (way.ending === 'close' ? driver.close() : driver.abandon());
    expect(await last).to.be.oneOf(['fine', 'UNAVAILABLE', 'SESSION_LOST', 'CLOSED']);
    expect(await outcome(driver.sync())).to.be.oneOf(['SESSION_LOST', 'CLOSED']);
    expect(ends).to.equal(1);
    for (const [index, status] of notifications.entries())
      expect(status, notifications.join(' ')).to.equal(index % 2 === 0 ? 'back' : 'lost');
    await eventually(() => fake.peers.every(({ socket }) => socket.closed));
  }

  it('settles each call with its own reply, and leaves no socket', async () => {
    const walks = fc.sample(walk, WALKS);
    await Promise.all(walks.map((way, index) => goes(way, `walk${index}`)));
  });
});
