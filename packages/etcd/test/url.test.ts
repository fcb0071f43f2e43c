import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseBackendUrl } from '@queuelock/core/backend';
import { etcd, fromUrl, type EtcdOptions } from '@queuelock/etcd';
import { issueCertificates } from '@queuelock/harness/services/certificates';
import { pemsIn } from '../src/api/credentials.ts';
import { optionsOf } from '../src/url.ts';

const read = (url: string): ReturnType<typeof optionsOf> => optionsOf(parseBackendUrl(url));

describe('the URL of an etcd backend', () => {
  it('can have several hosts, a user, and a prefix, to which a slash is added', () => {
    expect(read('etcd://al%3Aice:p%40ss@h1:2379,h2/team/locks')).to.deep.equal({
      hosts: ['http://h1:2379', 'http://h2'],
      auth: { username: 'al:ice', password: 'p@ss' },
      prefix: 'team/locks/',
    });
  });

  it('means 127.0.0.1 when it has no host', () => {
    expect(read('etcd:')).to.deep.equal({ hosts: ['http://127.0.0.1'] });
    expect(read('etcds:///team/')).to.deep.equal({ hosts: ['https://127.0.0.1'], prefix: 'team/' });
  });

  it('can contain the naming of entries', () => {
    expect(read('etcd://h?naming=fast')).to.deep.equal({ hosts: ['http://h'], naming: 'fast' });
    expect(() => fromUrl('etcd://h?naming=kazoo')).to.throw(/naming is one of go, fast; got "kazoo"/);
  });

  it('can contain the certificates for TLS', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'queuelock-url-'));
    const [ca, cert, key] = ['ca', 'cert', 'key'].map((name) => join(directory, `${name}.pem`)) as [
      string,
      string,
      string,
    ];
    const issued = (await issueCertificates())!;
    await writeFile(ca, issued.ca);
    await writeFile(cert, issued.client.cert);
    await writeFile(key, issued.client.key);
    const named = read(`etcds://h?ca=${ca}&cert=${cert}&key=${key}`).files!;
    const files = { certChain: issued.client.cert, privateKey: issued.client.key };
    expect(pemsIn(named)).to.deep.equal({ rootCertificate: issued.ca, ...files });
    await writeFile(ca, issued.client.cert);
    expect(pemsIn(named)).to.deep.equal({ rootCertificate: issued.client.cert, ...files });
    await rm(directory, { recursive: true });
  });

  it('can contain the heartbeat proof', async () => {
    expect(read('etcd://h1?heartbeatProof=strict')).to.deep.equal({
      hosts: ['http://h1'],
      heartbeatProof: 'strict',
    });
    await fromUrl('etcd://h1?heartbeatProof=verified').close();
    expect(() => fromUrl('etcd://alice:wonderland@h1?heartbeatProof=loose'))
      .to.throw(/heartbeatProof is one of auto, verified, strict.*"loose"/)
      .with.property('code', 'INVALID_ARGUMENT');
  });

  it('can contain the transport', async () => {
    expect(read('etcd://h1?transport=etcd3')).to.deep.equal({ hosts: ['http://h1'], transport: 'etcd3' });
    await fromUrl('etcd://h1?transport=http2').close();
    expect(() => fromUrl('etcd://alice:wonderland@h1?transport=pigeon'))
      .to.throw(/transport is one of socket, http2, etcd3.*"pigeon"/)
      .with.property('code', 'INVALID_ARGUMENT');
  });

  it("appears in the backend's info with hosts, ports and prefix, and without user and password", async () => {
    const backend = fromUrl('etcd://alice:wonderland@h1,[::1]:1234/team');
    expect(backend.info.endpoint).to.equal('etcd://h1:2379,[::1]:1234/team/');
    expect(backend.info).to.deep.include({
      name: 'etcd',
      authority: 'quorum',
      minTtlMs: 1_000,
      defaultTtlMs: 10_000,
    });
    await backend.close();
    const secure = etcd({ hosts: 'https://h1' });
    expect(secure.info.endpoint).to.equal('etcds://h1:2379');
    await secure.close();
  });

  for (const [url, rule] of [
    ['zk://h', /starts with etcd:\/\/ or etcds:\/\//],
    [
      'etcd://alice:wonderland@h?timeout=5',
      /timeout is unknown, known options are ca, cert, key, heartbeatProof, naming, transport/,
    ],
    ['etcd://:wonderland@h', /has a user before the password/],
    ['etcds://alice:wonderland@h?ca=/nowhere/ca.pem', /names a PEM file that can be read/],
    ['etcd://alice:wonderland@h?ca=/dev/null&heartbeatProof=strict', /starts with etcds:\/\//],
    ['etcds://alice:wonderland@h?cert=/dev/null', /has cert and key together/],
    ['etcd://alice:wonderland@h?ca=/dev/null', /starts with etcds:\/\//],
  ] as const) {
    it(`is refused, and the error does not show its password: ${url.replace(/\/\/.*@/, '//…@')}`, () => {
      expect(() => read(url))
        .to.throw(rule)
        .with.property('code', 'INVALID_ARGUMENT');
      expect(() => read(url)).not.to.throw('wonderland');
    });
  }

  for (const [about, options, rule] of [
    ['no host', { hosts: [] }, /hosts has at least one host/],
    ['an invalid port', { hosts: 'h:70000' }, /hosts are written host:port/],
    ['a user in a host', { hosts: ['alice:wonderland@h'] }, /hosts are written host:port/],
    ['hosts with and without TLS', { hosts: ['https://a', 'http://b'] }, /all https/],
    ['half a character in the prefix', { prefix: '\udc00' }, /prefix is well-formed/],
    ['a timeout of 0', { requestTimeoutMs: 0 }, /requestTimeoutMs is a number of milliseconds/],
    [
      'options of grpc-js where that is not used',
      { grpcOptions: {} },
      /grpcOptions are for transport: 'etcd3' only/,
    ],
    ['an unknown naming', { naming: 'curator' as 'go' }, /naming is one of go, fast; got "curator"/],
    ['an unknown option', { host: 'h' } as EtcdOptions, /host is unknown, did you mean hosts\?/],
    ['an unknown credential', { credentials: { ca: 1 } as object }, /credentials: ca is unknown/],
    [
      'a certificate without its key',
      { credentials: { certChain: Buffer.from('wonderland') } },
      /credentials has certChain and privateKey together; got "certChain"/,
    ],
    [
      'options that are not an object',
      null as unknown as EtcdOptions,
      /options of etcd must be an object; got null/,
    ],
    ['a host instead of options', 'alice:wonderland@h' as EtcdOptions, /must be an object; got a string/],
    ['a text as a user', { auth: 'alice:wonderland' as never }, /auth must be an object; got a string/],
    ['a user without a name', { auth: { username: '', password: 'wonderland' } }, /auth has a username/],
  ] as const) {
    it(`can be replaced by an object of options, which is refused with ${about}`, () => {
      expect(() => etcd(options))
        .to.throw(rule)
        .with.property('code', 'INVALID_ARGUMENT');
      expect(() => etcd(options)).not.to.throw('wonderland');
    });
  }
});
