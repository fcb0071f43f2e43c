import { fileURLToPath } from 'node:url';
import { isQueueLockError } from '@queuelock/core/backend';
import { fromUrl, zookeeper } from '@queuelock/zookeeper';
import { expect } from 'chai';
import { optionsOfUrl, settingsOf } from '../src/api/options.ts';

const HERE = fileURLToPath(import.meta.url);

function refusal(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (isQueueLockError(error, 'INVALID_ARGUMENT')) return error.message;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('options of the ZooKeeper backend', () => {
  it('have the same defaults for tickTime and syncLimit as a ZooKeeper server', () => {
    const { tickTimeMs, syncLimit, root, auth, hosts } = settingsOf({ hosts: ['zk1'] });
    expect({ tickTimeMs, syncLimit, root, auth }).to.deep.equal({
      tickTimeMs: 2_000,
      syncLimit: 5,
      root: '',
      auth: undefined,
    });
    expect(hosts).to.deep.equal([{ name: 'zk1', port: 2181 }]);
  });

  it('are shown as an endpoint without credentials', () => {
    const { info } = zookeeper({
      hosts: ['zk1', '[::1]:2182'],
      chroot: '/locks',
      auth: { username: 'u', password: 'secret' },
    });
    expect(info.endpoint).to.equal('zk://zk1:2181,[::1]:2182/locks');
    expect(info.name).to.equal('zookeeper');
    expect(info.authority).to.equal('quorum');
    expect(info.minTtlMs).to.equal(14_000);
    expect(info.proofLag).to.equal(0.2);
  });

  const refused: readonly (readonly [what: string, options: Record<string, unknown>, message: RegExp])[] = [
    ['no hosts', { hosts: [] }, /hosts is a list of at least one/],
    ['hosts that are not a list', { hosts: 'zk1:2181' }, /hosts is a list/],
    ['a port of 0', { hosts: ['zk1:0'] }, /hosts .* "zk1:0"/],
    ['a host with a path', { hosts: ['zk1:2181/a'] }, /hosts .* "zk1:2181\/a"/],
    ['a chroot without a slash', { chroot: 'locks' }, /chroot .* "locks"/],
    ['a chroot with a trailing slash', { chroot: '/locks/' }, /chroot/],
    ['a chroot with an empty segment', { chroot: '/a//b' }, /chroot/],
    ['a chroot with ..', { chroot: '/a/../b' }, /chroot/],
    ['a chroot with a control character', { chroot: '/a\n' }, /chroot/],
    ['TLS with transport native', { transport: 'native', tls: {} }, /tls .*does not support TLS/],
    ['an invalid certificate', { tls: { ca: 'hush' } }, /tls\.ca is in PEM.*got "\(not shown\)"/],
    [
      'a certificate without its key',
      { tls: { cert: '-----BEGIN CERTIFICATE-----' } },
      /tls has cert and key together; got "cert"/,
    ],
    [
      'a key without its certificate',
      { tls: { key: '-----BEGIN PRIVATE KEY-----' } },
      /tls has cert and key together; got "key"/,
    ],
    [
      'TLS under another name with transport native',
      { transport: 'native', sslContext: {} },
      /sslContext .*does not support TLS/,
    ],
    ['TLS under another name', { sslContext: {} }, /sslContext is unknown/],
    ['an unknown transport', { transport: 'java' }, /transport is one of native, wire; got "java"/],
    ['an unknown option', { host: 'zk1' }, /options of zookeeper: host is unknown, did you mean hosts\?/],
    ['a negative timeout', { connectTimeoutMs: -1 }, /connectTimeoutMs .* -1/],
    ['a tick that is not a number', { tickTimeMs: '2000' }, /tickTimeMs .* "2000"/],
    ['an empty password', { auth: { username: 'u', password: '' } }, /auth\.password/],
    ['an unknown naming', { naming: 'etcd' }, /naming is one of curator, .*curator\+kazoo; got "etcd"/],
    ['a naming that is the name of an inherited member', { naming: 'constructor' }, /naming is one of/],
    ['a user with a colon', { auth: { username: 'u:v', password: 'w' } }, /auth\.username/],
  ];
  for (const [what, options, message] of refused) {
    it(`are refused if they are invalid: ${what}`, () => {
      const call = (): unknown => zookeeper({ hosts: ['zk1'], ...options });
      expect(refusal(call)).to.match(message);
    });
  }

  it('accept one naming for all queues, or a function that returns one per queue', () => {
    expect(settingsOf({ hosts: ['zk1'] }).schemeFor('a').naming).to.equal('curator');
    expect(settingsOf({ hosts: ['zk1'], naming: 'kazoo' }).schemeFor('a').naming).to.equal('kazoo');
    const { schemeFor } = settingsOf({
      hosts: ['zk1'],
      naming: (queue) => (queue.endsWith('/leases') ? 'curator-lease' : 'curator'),
    });
    expect(['pool/leases', 'pool/locks'].map((queue) => schemeFor(queue).naming)).to.deep.equal([
      'curator-lease',
      'curator',
    ]);
  });

  it('refuse a queue for which the function returns no naming, with the queue in the error', () => {
    const backend = zookeeper({ hosts: ['zk1'], naming: () => 'java' as 'curator' });
    expect(refusal(() => backend.checkName('jobs'))).to.match(/naming\("jobs"\) is one of .* got "java"/);
  });
});

describe('URLs of the ZooKeeper backend', () => {
  it('can contain hosts, chroot, credentials and options that are numbers', () => {
    const url = 'zk://alice:s%40cret@h1:2281,h2/our/locks?tickTimeMs=500&syncLimit=3&connectTimeoutMs=900';
    expect(optionsOfUrl(url)).to.deep.equal({
      hosts: ['h1:2281', 'h2'],
      chroot: '/our/locks',
      auth: { username: 'alice', password: 's@cret' },
      tickTimeMs: 500,
      syncLimit: 3,
      connectTimeoutMs: 900,
    });
  });

  it('can contain a naming, with its plus sign encoded or not', () => {
    expect(optionsOfUrl('zk://h1?naming=kazoo')).to.deep.equal({ hosts: ['h1'], naming: 'kazoo' });
    for (const plus of ['+', '%2B']) {
      expect(optionsOfUrl(`zk://h1?naming=curator${plus}kazoo`).naming).to.equal('curator+kazoo');
    }
  });

  it('need neither path nor credentials', () => {
    expect(fromUrl('zk://h1').info.endpoint).to.equal('zk://h1:2181');
    expect(fromUrl('zk://h1/').info.endpoint).to.equal('zk://h1:2181');
  });

  for (const [what, url, message] of [
    ['another scheme', 'etcd://h1', /has the scheme zk or zks; got "etcd:"/],
    ['TLS with transport native', 'zks://h1?transport=native', /does not support TLS/],
    ['a TLS parameter', 'zk://h1?tls=1', /use zks:\/\/ instead of zk:\/\/ for TLS, .*tls/],
    ['certificates without TLS', 'zk://h1?ca=ca.pem', /starts with zks:\/\//],
    [
      'certificate files that do not exist',
      'zks://h1?ca=/no/such.pem',
      /ca names a PEM file that can be read/,
    ],
    [
      'a certificate without its key',
      `zks://h1?cert=${HERE}`,
      /backend URL has cert and key together; got "cert"/,
    ],
    ['a TLS parameter of transport native', 'zk://h1?ssl=1&transport=native', /does not support TLS/],
    ['an unknown parameter', 'zk://h1?timeout=3', /timeout is unknown, did you mean connectTimeoutMs\?/],
    ['a parameter that is not a number', 'zk://h1?syncLimit=x', /syncLimit .* "x"/],
    ['an unknown naming', 'zk://h1?naming=go', /naming is one of .* got "go"/],
    ['a user without a password', 'zk://alice@h1', /both a user and a password/],
    ['no host', 'zk:///locks', /hosts is a list of at least one/],
    ['a bad chroot', 'zk://h1/a//b', /chroot/],
  ] as const) {
    it(`are refused if they are invalid: ${what}`, () => {
      expect(refusal(() => fromUrl(url))).to.match(message);
    });
  }

  it('never show the password in a message', () => {
    for (const url of ['zk://alice:hush@h1:99999', 'zk://alice:hush@h1?tls=1', 'zk://alice:hush@h1/a//b']) {
      expect(refusal(() => fromUrl(url))).to.not.include('hush');
    }
  });
});
