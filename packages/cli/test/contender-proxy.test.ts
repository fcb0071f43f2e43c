import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { canProxy, openContenderProxy, type ContenderProxy } from '../src/arena/contender-proxy.ts';
import { introducing } from '../src/contend/introduction.ts';
import { Cli } from './cli-process.ts';

describe('the proxy of a contender', () => {
  let server: Server;
  let url: string;
  let way: ContenderProxy;
  const sockets: Socket[] = [];
  /** Number of connections that the proxy has relayed to the server. */
  let reached: number;

  beforeEach(async () => {
    // The test server sends all received data back.
    reached = 0;
    server = createServer((socket) => {
      reached += 1;
      sockets.push(socket);
      socket.on('error', () => undefined).pipe(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `etcd://user:secret@127.0.0.1:${String((server.address() as AddressInfo).port)}/team?heartbeatProof=strict`;
    way = await openContenderProxy(url);
  });
  afterEach(async () => {
    way.close();
    for (const socket of sockets.splice(0)) socket.destroy();
    server.close();
    await once(server, 'close');
  });

  async function client(): Promise<Socket> {
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(way.url)![1]);
    const socket = connect({ port, host: '127.0.0.1' }).setEncoding('utf8');
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write(way.secret);
    return socket;
  }

  for (const [what, introduction] of Object.entries({
    'another secret': (): string => 'x'.repeat(way.secret.length),
    'a part of the secret': (): string => way.secret.slice(0, -1),
    nothing: (): string => '',
    'a request': (): string => 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: '.padEnd(200, 'x'),
  }))
    it(`relays nothing of a connection that begins with ${what} instead of the secret of the proxy`, async () => {
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(way.url)![1]);
      const stranger = connect({ port, host: '127.0.0.1' }).setEncoding('utf8');
      sockets.push(stranger);
      let heard = '';
      stranger.on('data', (text: string) => (heard += text));
      stranger.on('error', () => undefined);
      stranger.end(introduction());
      await once(stranger, 'close');
      expect({ heard, reached }).to.deep.equal({ heard: '', reached: 0 });
    });

  for (const [scheme, rest] of [
    ['etcd', '/'],
    ['etcd', '/?transport=http2'],
    ['zk', '/'],
    ['redis', '/'],
    ['postgres', '/db'],
    ['mysql', '/db'],
    ['consul', '/'],
  ] as const)
    it(`relays connections of its contender to a store with the URL ${scheme}:${rest}`, async function () {
      this.timeout(60_000);
      const { port } = server.address() as AddressInfo;
      const own = await openContenderProxy(`${scheme}://user:secret@127.0.0.1:${String(port)}${rest}`);
      const connected = once(server, 'connection');
      const contender = new Cli(['contend', 'x', '--keep'], {
        QUEUELOCK_URL: own.url,
        ...introducing(own.secret),
      });
      await connected;
      contender.child.kill('SIGKILL');
      await contender.ending;
      own.close();
    });

  it('offers the URL of the store with proxy addresses in place of the server addresses', async () => {
    expect(way.url).to.match(/^etcd:\/\/user:secret@127\.0\.0\.1:\d+\/team\?heartbeatProof=strict$/);
    expect(way.url).to.not.equal(url);
    const three = await openContenderProxy('zk://a:1,b,[::1]:3/root');
    expect(three.url).to.match(/^zk:\/\/(127\.0\.0\.1:\d+,){2}127\.0\.0\.1:\d+\/root$/);
    three.close();
  });

  it('holds data back while the proxy is cut, and delivers the data when the proxy is restored', async () => {
    const socket = await client();
    socket.write('one');
    expect(await once(socket, 'data')).to.deep.equal(['one']);
    way.cut();
    let received = '';
    socket.on('data', (text: string) => (received += text));
    socket.write('two');
    // While one proxy holds its data back, another proxy to the same server still relays data.
    const other = await openContenderProxy(url);
    const beside = connect({ port: Number(/:(\d+)\//.exec(other.url)![1]), host: '127.0.0.1' });
    beside.write(`${other.secret}beside`);
    await once(beside, 'data');
    beside.destroy();
    other.close();
    expect(received).to.equal('');
    way.mend();
    await once(socket, 'data');
    expect(received).to.equal('two');
  });

  it('closes the other side when one side of a connection ends', async () => {
    const socket = await client();
    socket.end('last');
    expect(await once(socket, 'data')).to.deep.equal(['last']);
    await once(socket, 'close');
  });

  it('supports only URLs that name servers and do not use TLS', () => {
    expect(
      [
        'etcd://h',
        'zk://h',
        'redis://h',
        'postgres://h/a',
        'mysql://h/a',
        'consul://h',
        'zk://h?transport=native',
        'etcds://h',
        'rediss://h',
        'sqlite:x',
        'memory:',
      ].map(canProxy),
    ).to.deep.equal([true, true, true, true, true, true, false, false, false, false, false]);
  });
});
