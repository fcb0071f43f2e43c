import { rootCertificates } from 'node:tls';
import { expect } from 'chai';
import { Etcd3, type IOptions } from 'etcd3';
import { createLockClient } from '@queuelock/core';
import { etcd, type EtcdOptions } from '@queuelock/etcd';
import { etcdMetrics, sumOf } from '@queuelock/harness/services';
import { checkOptions } from '../src/api/options.ts';
import { eventually, freshQueue } from './clients.ts';
import { OwnServer } from './own-server.ts';

type Client = NonNullable<EtcdOptions['client']>;

const OFFLINE = '127.0.0.1:1';
const alice = { username: 'alice', password: 'wonderland' };

/** A subclass of `Etcd3` in the application, whose constructor takes other arguments. */
class OwnEtcd3 extends Etcd3 {
  constructor(port: number) {
    super({ hosts: `127.0.0.1:${port}` });
  }
}

describe('a client of npm etcd3 that the application passes to etcd()', () => {
  const opened: Etcd3[] = [];
  afterEach(() => {
    for (const client of opened.splice(0)) client.close();
  });
  function clientOf(options: IOptions = { hosts: OFFLINE }): Etcd3 {
    const client = new Etcd3(options);
    opened.push(client);
    return client;
  }
  // Creates a client with a changed property. Such clients never connect, so they need not be closed.
  const changed = (change: object): object => Object.assign(new Etcd3({ hosts: OFFLINE }), change);

  const refused: readonly (readonly [what: string, client: () => object, message: string])[] = [
    ['a namespace', () => clientOf().namespace('team/'), 'client is a client of npm etcd3 1.1'],
    [
      'a map',
      () => new Map(),
      'client is a client of npm etcd3 1.1, made by new Etcd3(…), which has getRoles()',
    ],
    [
      'a client without leases',
      () => changed({ leaseClient: undefined }),
      'leaseClient of client has leaseGrant()',
    ],
    [
      'a client whose keys cannot be deleted',
      () => changed({ kv: { range: () => 1, put: () => 1 } }),
      'kv of client has deleteRange(), as in npm etcd3 1.1; got "an object without deleteRange()"',
    ],
    [
      'a client of etcd3 0.2, which cannot do without retries',
      () => changed({ pool: { options: { hosts: OFFLINE } } }),
      'client is a client of npm etcd3 1.1',
    ],
    [
      'a client after mock()',
      () => {
        const client = clientOf();
        client.mock({ exec: () => Promise.reject(new Error('mocked')) } as never);
        return client;
      },
      'client has no mock',
    ],
    [
      'a client whose host has no port',
      () => clientOf({ hosts: ['http://10.0.0.1:2379', 'http://etcd'] }),
      'hosts of client are written host:port; got "http://etcd"',
    ],
    [
      'a client that throws when it is inspected',
      () =>
        // A client of npm etcd3 that never connects, so it need not be closed.
        Object.defineProperty(new Etcd3({ hosts: OFFLINE }), 'pool', {
          get() {
            throw new TypeError('no pool here');
          },
        }),
      'client can be inspected without an error; got "TypeError: no pool here"',
    ],
  ];
  for (const [what, client, message] of refused)
    it(`is refused with INVALID_ARGUMENT when it is ${what}`, () => {
      expect(() => etcd({ client: client() as Client }))
        .to.throw(message)
        .with.property('code', 'INVALID_ARGUMENT');
    });

  for (const [option, value] of Object.entries({
    hosts: OFFLINE,
    auth: alice,
    credentials: { rootCertificate: Buffer.from('wonderland') },
    grpcOptions: {},
  }))
    it(`is refused if the caller also sets the option ${option}`, () => {
      expect(() => etcd({ client: clientOf(), [option]: value }))
        .to.throw(`${option} beside client is omitted: the client has its own`)
        .with.property('code', 'INVALID_ARGUMENT');
    });

  it('is refused if the caller also selects the transport socket', () => {
    expect(() => etcd({ client: clientOf(), transport: 'socket' }))
      .to.throw('transport beside client is etcd3 or omitted; got "socket"')
      .with.property('code', 'INVALID_ARGUMENT');
  });

  it('gives the backend its hosts, credentials and channel options, and nothing else', () => {
    const hosts = ['https://a:1', 'https://b:2'];
    const credentials = { rootCertificate: Buffer.from(rootCertificates[0] ?? '') };
    const grpcOptions = { 'grpc.keepalive_time_ms': 9_000 };
    const auth = { ...alice, callOptions: { deadline: 1 } };
    const client = clientOf({ hosts, auth, grpcOptions, defaultCallOptions: { deadline: 1 } });
    const checked = checkOptions({ client });
    expect(checked).to.include({ transport: 'etcd3', tls: true, grpcOptions, Etcd3 });
    expect(checked.hosts).to.deep.equal(['a:1', 'b:2']);
    expect(checked.credentials.latest).to.deep.equal({ user: alice, pems: undefined });
    const secured = checkOptions({ client: clientOf({ hosts, credentials }) });
    expect(secured.credentials.latest?.pems).to.equal(credentials);
  });

  describe('with a server', () => {
    const own = new OwnServer();

    it('can be used for locks even if the application has closed it', async () => {
      const client = new OwnEtcd3(Number(own.server.endpoint.split(':')[1]));
      await using one = createLockClient(etcd({ client, prefix: 'handed-in/' }));
      client.close();
      await using other = createLockClient(etcd({ client, prefix: 'handed-in/' }));
      const name = freshQueue();
      const held = await one.acquire(name);
      const next = other.run(name, (hold) => hold.token);
      const queue = (): Promise<string[]> => own.operator.keysUnder(`handed-in/${name}/`);
      await eventually('both are in the queue', async () => (await queue()).length === 2);
      const { token } = held;
      await held.release();
      expect((await next) > token).to.equal(true);
    });

    it('is not closed when the lock client closes', async () => {
      const client = clientOf({ hosts: own.server.endpoint });
      const locks = createLockClient(etcd({ client }));
      await locks.run(freshQueue(), () => undefined);
      await locks.close();
      await client.put('mine').value('kept');
      expect(await client.get('mine').string()).to.equal('kept');
    });

    it('lets the backend log in as the user of that client', async () => {
      const root = { username: 'root', password: 'looking-glass' };
      await own.operator.switchOnAccessControl({ root, user: alice, prefix: 'allowed/' });
      const logIns = async (): Promise<number> =>
        sumOf(await etcdMetrics(own.server.endpoint), 'grpc_server_handled_total', {
          grpc_method: 'Authenticate',
        });
      const before = await logIns();
      const client = clientOf({ hosts: own.server.endpoint, auth: alice });
      await using locks = createLockClient(etcd({ client, prefix: 'allowed/' }));
      expect(await locks.run(freshQueue(), () => 'done')).to.equal('done');
      expect(await logIns()).to.be.greaterThan(before);
      await using strangers = createLockClient(etcd({ client, prefix: 'elsewhere/' }));
      const failure: unknown = await strangers.acquire(freshQueue()).catch((error: unknown) => error);
      expect(failure).to.have.property('code', 'ACCESS_DENIED');
    });
  });
});
