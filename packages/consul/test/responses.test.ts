import { createServer, type Server } from 'node:http';
import { Readable } from 'node:stream';
import type { AddressInfo } from 'node:net';
import { consul } from '@queuelock/consul';
import { expect } from 'chai';
import { readBody } from '../src/driver/body.ts';
import {
  agentIn,
  leaderIn,
  pairsIn,
  serversIn,
  sessionIdIn,
  sessionNamesIn,
  txnResult,
} from '../src/driver/responses.ts';

const PAIR = { Key: 'k', Value: null, CreateIndex: 1, ModifyIndex: 2, Flags: 0 };

describe('responses of Consul', () => {
  const read = (parse: (body: string) => unknown, value: unknown): unknown => parse(JSON.stringify(value));

  it('are parsed in the form that Consul documents', () => {
    const pair = { key: 'k', text: 'me', session: 's', createIndex: 1n, modifyIndex: 2n, flags: 0 };
    const Value = Buffer.from('me').toString('base64');
    expect(read(pairsIn, [{ ...PAIR, Value, Session: 's' }])).to.deep.equal([pair]);
    expect(read(txnResult, { Results: [{ KV: PAIR }, {}], Errors: null })).to.deep.equal({
      isDone: true,
      pairs: [{ ...pair, text: '', session: undefined }],
    });
    expect(read(txnResult, { Errors: [{ OpIndex: 1, What: 'no' }] })).to.deep.equal({
      isDone: false,
      failedAt: 1,
      why: 'no',
    });
    expect(read(sessionIdIn, { ID: '8b7bd47a-33c3' })).to.equal('8b7bd47a-33c3');
  });

  const refused: readonly (readonly [what: string, parse: (body: string) => unknown, value: unknown])[] = [
    ['keys that are no list', pairsIn, { Key: 'k' }],
    ['a key without a name', pairsIn, [{ ...PAIR, Key: undefined }]],
    ['a key whose index is no whole number', pairsIn, [{ ...PAIR, CreateIndex: 0.5 }]],
    ['a key whose value is a number', pairsIn, [{ ...PAIR, Value: 1 }]],
    ['null among keys', pairsIn, [null]],
    ['a transaction without an object', txnResult, null],
    ['an error of a transaction without a text', txnResult, { Errors: [{ OpIndex: 0 }] }],
    ['a session id that changes the path of a request', sessionIdIn, { ID: '../kv/a' }],
    ['a session id that is a number', sessionIdIn, { ID: 7 }],
    ['sessions without names', sessionNamesIn, [{}]],
    ['servers that are numbers', serversIn, [1]],
    ['a leader that is a list', leaderIn, []],
    ['an agent without its configuration', agentIn, {}],
  ];
  for (const [what, parse, value] of refused)
    it(`are refused when they contain ${what}`, () => {
      expect(() => read(parse, value)).to.throw(TypeError);
    });
});

describe('the body of a response', () => {
  it('is read as text from chunks that divide a character', async () => {
    const bytes = Buffer.from('"größe"');
    expect(await readBody(Readable.from([bytes.subarray(0, 4), bytes.subarray(4)]))).to.equal('"größe"');
  });

  it('is not read beyond its maximum size, and the connection is ended', async () => {
    const response = Readable.from([Buffer.alloc(600), Buffer.alloc(600), Buffer.alloc(600)]);
    const error = await readBody(response, 1_000).catch(String);
    expect(error).to.equal('Error: a response of more than 1000 bytes is not read');
    expect(response.destroyed).to.equal(true);
  });
});

describe('an agent or proxy that mishandles blocking queries', () => {
  let server: Server;
  let requests: number;
  let index: string | undefined;

  before(async () => {
    server = createServer((request, response) => {
      request.resume();
      requests += 1;
      response.writeHead(200, index === undefined ? {} : { 'x-consul-index': index }).end('[]');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(() => new Promise((resolve) => server.close(resolve)));
  beforeEach(() => {
    requests = 0;
  });

  const hosts = (): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;

  it('causes an error for observers if its responses have no index', async () => {
    index = undefined;
    const backend = consul({ hosts: hosts() });
    const error = await new Promise((_, reject) =>
      backend.observe('jobs').subscribe({ error: reject }),
    ).catch(String);
    expect(error).to.match(/UNAVAILABLE.*has no X-Consul-Index: a proxy may have removed it/);
    await backend.close();
  });

  it('receives at most ten queries a second when it responds although nothing has changed', async () => {
    index = '7';
    const backend = consul({ hosts: hosts() });
    const began = performance.now();
    const observed = backend.observe('jobs').subscribe();
    while (requests < 4) await new Promise((resolve) => setImmediate(resolve));
    // The client sends the second blocking query directly after the first response, and each later query after a delay of 100 ms.
    expect(performance.now() - began).to.be.at.least(190);
    observed.unsubscribe();
    await backend.close();
  });
});
