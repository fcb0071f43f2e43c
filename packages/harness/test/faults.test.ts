import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { freeze, startProxy, thaw, type TcpProxy } from '../src/faults.ts';
import { Caller, Echo, eventually } from './faults/echo.ts';
import { reset } from '../src/faults/reset.ts';
import { sharedEtcd } from '../src/services.ts';
import { plainEtcd } from '../src/services/plain-clients.ts';

const MIB = 1024 * 1024;

describe('a TCP proxy', () => {
  let echo: Echo;
  let target: string;
  let proxy: TcpProxy;
  let callers: Caller[];

  beforeEach(async () => {
    echo = new Echo();
    target = await echo.start();
    proxy = await startProxy(target);
    callers = [];
  });

  afterEach(async () => {
    for (const { socket } of callers) socket.destroy();
    await proxy.stop();
    await echo.stop();
  });

  function call(endpoint = proxy.endpoint): Caller {
    const caller = new Caller(endpoint);
    callers.push(caller);
    return caller;
  }

  it('forwards data in both directions and counts the bytes', async () => {
    const caller = call();
    await caller.echo('hello');
    expect(proxy.accepted).to.equal(1);
    expect(proxy.connections).to.have.lengthOf(1);
    expect(proxy.toServer.bytes).to.equal(5);
    expect(proxy.toClient.bytes).to.equal(5);
  });

  it('forwards the end of one direction without ending the other direction', async () => {
    const caller = call();
    caller.socket.end('last words');
    await once(caller.socket, 'end');
    expect(caller.received).to.equal('last words');
    await eventually('the connection is forgotten', () => proxy.connections.length === 0);
  });

  it('carries a large stream unchanged', async () => {
    const caller = call();
    const bytes = randomBytes(8 * MIB);
    const hash = createHash('sha256');
    let length = 0;
    caller.socket.removeAllListeners('data');
    caller.socket.on('data', (chunk) => {
      hash.update(chunk);
      length += chunk.length;
    });
    caller.socket.end(bytes);
    await once(caller.socket, 'end');
    expect(length).to.equal(bytes.length);
    expect(hash.digest('hex')).to.equal(createHash('sha256').update(bytes).digest('hex'));
  });

  it('delays each direction, and applies a shorter delay to data in flight', async () => {
    const caller = call();
    await caller.echo('a');
    proxy.toServer.delay(40);
    proxy.toClient.delay(40);
    const start = performance.now();
    await caller.echo('b');
    expect(performance.now() - start).to.be.at.least(80);
    proxy.toServer.delay(3_600_000);
    caller.say('c');
    caller.say('d');
    await eventually('both are under way', () => caller.socket.bytesWritten === 4);
    expect(echo.received.join('')).to.equal('ab');
    proxy.toServer.delay(0);
    await caller.untilReceived('cd');
  });

  it('holds back data in one direction, and delivers all of it after a call of heal', async () => {
    const caller = call();
    await caller.echo('a');
    proxy.toServer.hold();
    caller.say('b');
    const other = call();
    other.say('c');
    await eventually('both connections are there', () => proxy.connections.length === 2);
    expect(echo.received.join('')).to.equal('a');
    proxy.toServer.heal();
    await caller.untilReceived('b');
    await other.untilReceived('c');
    expect(proxy.toServer.lostBytes).to.equal(0);
  });

  it('applies backpressure to the sender when it holds back more than 1 MiB', async () => {
    const caller = call();
    await caller.echo('a');
    proxy.toServer.hold();
    let written = false;
    caller.socket.write(Buffer.alloc(64 * MIB, 'x'), () => (written = true));
    await eventually('it keeps what it may', () => proxy.toServer.keptBytes > MIB);
    await call(target).echo('y'.repeat(8 * MIB));
    expect(proxy.toServer.keptBytes).to.be.below(2 * MIB);
    expect(written).to.equal(false);
    proxy.toServer.heal();
    await eventually('everything arrived', () => caller.received.length === 64 * MIB + 1);
    expect(written).to.equal(true);
    expect(proxy.toServer.keptBytes).to.equal(0);
  }).timeout(120_000);

  it('drops data in one direction only, and resets incomplete connections when it heals', async () => {
    const caller = call();
    await caller.echo('a');
    proxy.toClient.blackhole();
    caller.say('lost');
    await eventually('the reply is swallowed', () => proxy.toClient.lostBytes === 4);
    expect(echo.received.join('')).to.equal('alost');
    expect(caller.received).to.equal('a');
    proxy.toClient.heal();
    expect(await caller.ending).to.equal('ECONNRESET');
    await call().echo('b');
  });

  it('does not forward the close of a connection while it drops all data', async () => {
    const caller = call();
    await caller.echo('a');
    proxy.toServer.blackhole();
    caller.socket.resetAndDestroy();
    await call(target).echo('b');
    const [behind] = echo.sockets;
    expect(behind?.readyState).to.equal('open');
    proxy.toServer.heal();
    await eventually('the server knows', () => behind?.destroyed === true);
  });

  it('drops delayed data too when it begins to drop all data', async () => {
    const caller = call();
    await caller.echo('a');
    proxy.toServer.delay(3_600_000);
    caller.say('bcd');
    await eventually('it is under way', () => proxy.toServer.keptBytes === 3);
    proxy.toServer.blackhole();
    expect(proxy.toServer).to.include({ keptBytes: 0, lostBytes: 3 });
  });

  it('does not affect an idle connection when it heals a blackhole', async () => {
    const caller = call();
    await caller.echo('a');
    proxy.toServer.blackhole();
    proxy.toClient.blackhole();
    await proxy.heal();
    await caller.echo('b');
  });

  it('cuts all connections on both sides, and accepts new ones', async () => {
    const [one, two] = [call(), call()];
    await Promise.all([one.echo('a'), two.echo('b')]);
    proxy.cut();
    expect(await Promise.all([one.ending, two.ending])).to.deep.equal(['ECONNRESET', 'ECONNRESET']);
    await eventually('the server knows', () => echo.sockets.every(({ destroyed }) => destroyed));
    await call().echo('c');
    expect(proxy.accepted).to.equal(3);
  });

  it('refuses new connections but keeps open ones, and later accepts again at the same address', async () => {
    const caller = call();
    await caller.echo('a');
    proxy.refuse();
    expect(await call().ending).to.equal('ECONNREFUSED');
    await caller.echo('b');
    await proxy.accept();
    await call().echo('c');
  });

  it('ends the connection of a client whose server has ended', async () => {
    const caller = call();
    await caller.echo('a');
    const ended = once(caller.socket, 'end');
    await echo.stop();
    await ended;
    expect(await call().ending).to.equal('ECONNRESET');
    echo = new Echo();
  });

  it('passes each chunk to a callback before it forwards the chunk', async () => {
    const caller = call();
    await caller.echo('a');
    proxy.onClientData = (chunk) => {
      if (chunk.includes('b')) proxy.toServer.hold();
    };
    const seen: string[] = [];
    proxy.onServerData = (chunk, { id }) => seen.push(`${String(id)}:${chunk.toString()}`);
    caller.say('b');
    await eventually('the request went by', () => proxy.toServer.held);
    await call(target).echo('round trip');
    expect(echo.received).to.not.include('b');
    proxy.onClientData = undefined;
    proxy.toServer.heal();
    await caller.untilReceived('b');
    expect(seen).to.deep.equal(['1:b']);
  });

  it('loses one reply without affecting another connection', async () => {
    const [one, two] = [call(), call()];
    await one.echo('a');
    const lostReply = proxy.loseNextReply((chunk) => chunk.includes('c'));
    await one.echo('b');
    one.say('c');
    const connection = await lostReply.lost;
    expect(await lostReply.seen).to.equal(connection);
    await echo.untilReceived('c');
    await two.echo('c again');
    expect(one.received).to.equal('ab');
    connection.cut();
    expect(await one.ending).to.equal('ECONNRESET');
  });

  it('does not take control frames of HTTP/2 for the reply that it is to lose', async () => {
    const caller = call();
    const { lost } = proxy.loseNextReply((chunk) => chunk.includes('PING'));
    let isLost = false;
    void lost.then(() => (isLost = true));
    const ping = '\0\0\x08\x06\x01\0\0\0\0somePING';
    const window = '\0\0\x04\x08\0\0\0\0\0\0\0\x01\0';
    caller.say(ping + window);
    await eventually('both are swallowed', () => proxy.toClient.lostBytes === ping.length + window.length);
    expect(isLost).to.equal(false);
    const data = '\0\0\x01\0\0\0\0\0\x01A';
    caller.say(data);
    await lost;
  });

  it('reports that a connection closes before the reply that was to be lost', async () => {
    const caller = call();
    await caller.echo('a');
    proxy.toServer.hold();
    const { seen, lost } = proxy.loseNextReply();
    caller.say('b');
    (await seen).cut();
    expect(await lost.catch(String)).to.match(/closed before a reply came/);
  });

  it('leaves nothing open when it stops', async () => {
    const caller = call();
    await caller.echo('a');
    proxy.toServer.delay(3_600_000);
    caller.say('b');
    await proxy.stop();
    expect(proxy.connections).to.be.empty;
    expect(await call().ending).to.equal('ECONNREFUSED');
    await caller.ending;
  });

  it('closes a connection that it resets, even if the client has just stopped sending', async () => {
    const caller = call();
    await caller.echo('a');
    caller.socket.end();
    reset(caller.socket);
    expect(await caller.ending).to.equal('closed');
  });

  it('refuses invalid delays and other invalid arguments', async () => {
    expect(() => proxy.toServer.delay(-1)).to.throw(RangeError, /delay: -1/);
    expect(() => proxy.toServer.limit(0)).to.throw(RangeError, /limit: 0/);
    expect(await startProxy('nowhere').catch(String)).to.match(/"nowhere" is not host:port/);
  });
});

describe('a TCP proxy before etcd', () => {
  it('loses the reply of a write that etcd has committed', async () => {
    const etcd = await sharedEtcd('faults of the network');
    const proxy = await startProxy(() => etcd.endpoint);
    try {
      await plainEtcd.put(proxy.endpoint, 'old');
      const { lost } = proxy.loseNextReply((chunk) => chunk.includes('/v3/kv/put'));
      const put = plainEtcd.put(proxy.endpoint, 'new').catch(() => 'no reply');
      (await lost).cut();
      expect(await put).to.equal('no reply');
      expect(await plainEtcd.get(etcd.endpoint)).to.equal('new');
    } finally {
      await proxy.stop();
    }
  });
});

describe('freezing a process', () => {
  it('is refused for a number that is not the id of another process', async () => {
    for (const pid of [0, 1, -5, 1.5, NaN, process.pid]) {
      expect(await freeze(pid).catch(String)).to.match(/is not the id of another process/);
      expect(await thaw(pid).catch(String)).to.match(/is not the id of another process/);
    }
  });
});
