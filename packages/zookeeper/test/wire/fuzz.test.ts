import { expect } from 'chai';
import fc from 'fast-check';
import { Bench, eventually, outcome } from '../bench.ts';
import { connected, driverTo } from './clients.ts';
import { replyFrame, welcomeFrame, withLength } from './fake-frames.ts';
import { fakeServer, welcoming, type Peer } from './fake-server.ts';

/** Makes a simulated server send a malformed message in place of a reply. */
type Nonsense = (peer: Peer, xid: number) => void;

function lengthOf(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

const NONSENSE: Readonly<Record<string, Nonsense>> = {
  'a huge length': (peer) => peer.socket.write(lengthOf(2 ** 31 - 1)),
  'a negative length': (peer) => peer.socket.write(lengthOf(-5)),
  'an empty frame': (peer) => peer.send(Buffer.alloc(0)),
  'half a header': (peer) => peer.send(Buffer.alloc(9)),
  'the reply to another request': (peer, xid) => peer.reply({ xid: xid + 1 }),
  'a repeated reply': (peer, xid) => {
    const reply = replyFrame({ xid, body: (writer) => writer.text('/') });
    peer.send(reply, reply);
  },
  'a truncated reply': (peer, xid) => peer.reply({ xid, body: (writer) => writer.int(100) }),
  'a truncated event': (peer) => peer.reply({ xid: -1 }),
  'text of a huge length': (peer, xid) => peer.reply({ xid, body: (writer) => writer.int(2 ** 31 - 1) }),
  'an end within a frame': (peer, xid) => {
    peer.socket.end(withLength(replyFrame({ xid, body: (writer) => writer.text('/') })).subarray(0, 20));
  },
};

describe('a malformed message from a ZooKeeper server', () => {
  const bench = new Bench();
  afterEach(() => bench.clear());

  for (const [what, say] of Object.entries(NONSENSE)) {
    it(`such as ${what} ends the connection, with an unknown outcome for the call`, async () => {
      let requested = 0;
      const fake = await fakeServer(
        bench,
        welcoming(9_000, (peer, { xid }) => {
          requested += 1;
          if (requested === 1) say(peer, xid);
          else peer.reply({ xid, body: (writer) => writer.text('/') });
        }),
      );
      const driver = await connected(driverTo(bench, fake.endpoint));
      const notifications: string[] = [];
      driver.connection$.subscribe(({ status }) => notifications.push(status));
      const code = await outcome(driver.sync());
      expect(code).to.equal(what === 'a repeated reply' ? 'fine' : 'UNAVAILABLE');
      await eventually(() => notifications.includes('back'));
      expect(await outcome(driver.sync())).to.equal('fine');
      expect(notifications).to.deep.equal(['lost', 'back']);
    });
  }

  it('such as an incomplete frame ends the connection', async () => {
    let sane = false;
    const fake = await fakeServer(bench, {
      ...welcoming(600),
      request: (peer, { xid, type }) => {
        if (sane && type === 11) peer.reply({ xid });
        if (sane && type !== 11) peer.reply({ xid, body: (writer) => writer.text('/') });
        if (!sane && type === 9) peer.socket.write(Buffer.concat([lengthOf(2 ** 20), Buffer.alloc(1_000)]));
      },
    });
    const driver = await connected(driverTo(bench, fake.endpoint));
    expect(await outcome(driver.sync())).to.equal('UNAVAILABLE');
    sane = true;
    await eventually(async () => (await outcome(driver.sync())) === 'fine');
  });

  it('such as random bytes at the start ends the connection without an exception', async () => {
    const first = fc.sample(fc.uint8Array({ maxLength: 60 }), 12).map((bytes) => Buffer.from(bytes));
    const others = [
      Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
      withLength(Buffer.alloc(3)),
      lengthOf(2 ** 30),
    ];
    const output: Buffer[] = [];
    for (const bytes of [...others, ...first]) {
      const fake = await fakeServer(bench, {
        hello: (peer) => {
          output.push(bytes);
          peer.socket.end(bytes);
        },
      });
      const driver = driverTo(bench, fake.endpoint);
      await eventually(() => fake.peers.some(({ socket }) => socket.closed));
      expect(driver.endedWith).to.equal(undefined);
      await driver.close();
    }
    expect(output.length).to.be.at.least(15);
  });

  it('such as random bytes never gives a call the reply of another call', async () => {
    const frames = fc.sample(fc.array(fc.uint8Array({ maxLength: 80 }), { minLength: 1, maxLength: 5 }), 25);
    for (const some of frames) {
      const fake = await fakeServer(bench, {
        hello: (peer) => peer.send(welcomeFrame({ timeoutMs: 9_000, id: 3n })),
        request: (peer) => {
          peer.send(...some.map((bytes) => Buffer.from(bytes)));
          peer.socket.end();
        },
      });
      const driver = await connected(driverTo(bench, fake.endpoint));
      expect(await outcome(driver.stat('/a'))).to.equal('UNAVAILABLE');
      await driver.close();
    }
  });
});
