import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { hasWay, openWay, type Way } from '../src/arena/way.ts';

describe('the way of a contender to its servers', () => {
  let server: Server;
  let url: string;
  let way: Way;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    // Says everything back.
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined).pipe(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `etcd://user:secret@127.0.0.1:${String((server.address() as AddressInfo).port)}/team?beats=strict`;
    way = await openWay(url);
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
    return socket;
  }

  it('has a URL that differs in the addresses of the servers only', async () => {
    expect(way.url).to.match(/^etcd:\/\/user:secret@127\.0\.0\.1:\d+\/team\?beats=strict$/);
    expect(way.url).to.not.equal(url);
    const three = await openWay('zk://a:1,b,[::1]:3/root');
    expect(three.url).to.match(/^zk:\/\/(127\.0\.0\.1:\d+,){2}127\.0\.0\.1:\d+\/root$/);
    three.close();
  });

  it('holds back what is sent while it is cut, and lets it arrive when it is mended', async () => {
    const socket = await client();
    socket.write('one');
    expect(await once(socket, 'data')).to.deep.equal(['one']);
    way.cut();
    let heard = '';
    socket.on('data', (text: string) => (heard += text));
    socket.write('two');
    // Another way to the same server is as fast as ever.
    const other = await openWay(url);
    const beside = connect({ port: Number(/:(\d+)\//.exec(other.url)![1]), host: '127.0.0.1' });
    beside.write('beside');
    await once(beside, 'data');
    beside.destroy();
    other.close();
    expect(heard).to.equal('');
    way.mend();
    await once(socket, 'data');
    expect(heard).to.equal('two');
  });

  it('hands on the end of a connection', async () => {
    const socket = await client();
    socket.end('last');
    expect(await once(socket, 'data')).to.deep.equal(['last']);
    await once(socket, 'close');
  });

  it('is there for servers without TLS only', () => {
    expect(
      [
        'etcd://h',
        'zk://h',
        'redis://h',
        'postgres://h/a',
        'mysql://h/a',
        'etcds://h',
        'rediss://h',
        'sqlite:x',
        'memory:',
      ].map(hasWay),
    ).to.deep.equal([true, true, true, true, true, false, false, false, false]);
  });
});
