import { expect } from 'chai';
import { isQueueLockError } from '@queuelock/core/backend';
import { settingsOf } from '../src/api/options.ts';
import { optionsOf } from '../src/api/url.ts';

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (isQueueLockError(error, 'INVALID_ARGUMENT')) return error.message;
    throw error;
  }
  return 'nothing was refused';
}

describe('the options of consul()', () => {
  it('have defaults: the agent at 127.0.0.1:8500, the prefix queuelock/, and limits of time and of queries', () => {
    expect(settingsOf({})).to.deep.include({
      addresses: [{ hostname: '127.0.0.1', port: 8500 }],
      endpoint: 'consul://127.0.0.1:8500',
      prefix: 'queuelock/',
      params: {},
      requestTimeoutMs: 2_000,
      minTtlMs: 10_000,
      maxQueries: 50,
    });
  });

  const refused: Readonly<Record<string, readonly [options: object, rule: RegExp]>> = {
    'an unknown option': [{ host: 'h' }, /host is unknown, did you mean hosts\?/],
    'no host': [{ hosts: [] }, /hosts has at least one host/],
    'a host with a scheme': [{ hosts: 'http://h:8500' }, /hosts are written host:port/],
    'a port out of range': [{ hosts: 'h:70000' }, /hosts are written host:port/],
    'a host that is no text': [{ hosts: [7] }, /hosts are written host:port/],
    'a prefix that leaves its place': [{ prefix: '../locks/' }, /prefix is letters, digits/],
    'a prefix with an empty part': [{ prefix: 'a//b' }, /prefix is letters, digits/],
    'a timeout of nothing': [{ requestTimeoutMs: 0 }, /requestTimeoutMs is a number from 1/],
    'queries that are no number': [{ maxQueries: '9' }, /maxQueries is a number from 1/],
    'a certificate without its key': [{ tls: { cert: 'x' } }, /tls/],
  };
  for (const [what, [options, rule]] of Object.entries(refused)) {
    it(`are refused, and the error states the rule: ${what}`, () => {
      expect(refusal(() => settingsOf(options))).to.match(rule);
    });
  }

  it('do not show an invalid token in the error', () => {
    const message = refusal(() => settingsOf({ token: 'se cret' }));
    expect(message)
      .to.match(/token is printable ASCII/)
      .and.not.include('cret');
  });
});

describe('the URL of a Consul backend', () => {
  it('contains agents, token, prefix and further options', () => {
    const url =
      'consul://:secret@a:8500,[::1]:8501/team/locks?dc=east&ns=n&partition=p&node=locks&minTtlMs=500';
    expect(optionsOf(url)).to.deep.equal({
      hosts: ['a:8500', '[::1]:8501'],
      token: 'secret',
      prefix: 'team/locks/',
      datacenter: 'east',
      namespace: 'n',
      partition: 'p',
      node: 'locks',
      minTtlMs: 500,
    });
    expect(settingsOf(optionsOf(url)).params).to.deep.equal({ dc: 'east', ns: 'n', partition: 'p' });
    expect(settingsOf(optionsOf('consuls://h')).tls).to.deep.equal({});
  });

  for (const [url, rule] of [
    ['etcd://h', /is written consul:\/\//],
    ['consul://h?datacenter=east', /datacenter is unknown/],
    ['consul://h?ca=/nowhere.pem', /names a PEM file/],
    ['consul://h?minTtlMs=soon', /minTtlMs is a number/],
  ] as const) {
    it(`is refused, and the error states the rule: ${url}`, () => {
      expect(refusal(() => settingsOf(optionsOf(url)))).to.match(rule);
    });
  }
});
