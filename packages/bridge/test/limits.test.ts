import { virtualClock } from '@queuelock/memory';
import { expect } from 'chai';
import { BytesInFlight } from '../src/limits/bytes-in-flight.ts';
import { addressAndPrincipal } from '../src/limits/client-id.ts';
import { Quota } from '../src/limits/quota.ts';
import { RequestRate } from '../src/limits/request-rate.ts';
import type { BridgeLimits, BridgeOptions } from '../src/index.ts';
import type { Refusal } from '../src/wire.ts';
import { programAt, seen, stage, Tab } from './stage.ts';

/** Returns options for a bridge that reads the client's id from a header, as behind a proxy. */
function byHeader(limits: BridgeLimits): Partial<BridgeOptions> {
  return { limits, clientOf: (request) => request.headers.get('x-client') ?? undefined };
}

/** Returns functions that send requests to the bridge as the client with this id. */
async function visitorAt(url: string, client: string) {
  const { post } = await programAt(url);
  const headers = { 'x-client': client };
  const readOnce = (query: string): Promise<Response> => fetch(`${url}/v2/stream?${query}`, { headers });
  return {
    look: readOnce,
    stream: (topics: readonly object[]): Promise<Response> =>
      post('stream', { topics: topics.map((topic) => ({ topic })) }, headers),
    post: (path: string, body: unknown): Promise<Response> => post(path, body, headers),
  };
}

async function leave(...responses: readonly Response[]): Promise<void> {
  for (const { body } of responses) await body?.cancel();
}

/**
 * Reads the first chunk of a response of the bridge. Returns the names of the limits because of which the
 * bridge has refused topics.
 */
async function refusalsIn(response: Response): Promise<readonly string[]> {
  const reader = response.body!.getReader();
  const text = new TextDecoder().decode((await reader.read()).value as Uint8Array);
  await reader.cancel();
  return [...text.matchAll(/event: refused\ndata: .*?limits\.([\w.]+)/g)].map(([, option = '']) => option);
}

describe('the limits of one client', () => {
  it('refuse further requests of that client only, with status 429, the reason and the time to retry', async () => {
    await using s = await stage(byHeader({ perClient: { streams: 1, joins: 1 } }));
    const [hostile, other] = await Promise.all(['h', 'o'].map((client) => visitorAt(s.url, client)));
    const open = [await hostile!.look('queue=q')];
    const refused = await hostile!.look('queue=q');
    const { error } = (await refused.json()) as Refusal;
    expect([refused.status, refused.headers.get('retry-after'), error.code, error.retryable]).to.deep.equal([
      429,
      '5',
      'UNAVAILABLE',
      true,
    ]);
    expect(error.message).to.include('limit of 1 (limits.perClient.streams)');
    open.push(await other!.look('queue=q'));
    expect((await hostile!.post('joins', { name: 'q' })).status).to.equal(200);
    expect((await hostile!.post('joins', { name: 'q' })).status).to.equal(429);
    expect((await other!.post('joins', { name: 'q' })).status).to.equal(200);
    expect(open.map(({ status }) => status)).to.deep.equal([200, 200]);
    await leave(...open);
  });

  it('let the client open a stream again after it has closed its only permitted one', async () => {
    await using s = await stage(byHeader({ perClient: { streams: 1 } }));
    const visitor = await visitorAt(s.url, 'v');
    await leave(await visitor.look('queue=q'));
    let status = 0;
    for (let tries = 0; status !== 200 && tries < 1_000; tries += 1) {
      const response = await visitor.look('queue=q');
      ({ status } = response);
      await leave(response);
    }
    expect(status).to.equal(200);
  });

  it('count topics over all streams of a client, and refuse more topics than allowed', async () => {
    await using s = await stage(byHeader({ perClient: { topics: 5, overviews: 2, queues: 2 } }));
    const [hostile, other] = await Promise.all(['h', 'o'].map((client) => visitorAt(s.url, client)));
    const lists = ['', 'a', 'b', 'c'].map((prefix) => ({ kind: 'queues', prefix }));
    expect(await refusalsIn(await hostile!.stream(lists))).to.deep.equal([
      'perClient.overviews',
      'perClient.overviews',
    ]);
    const queues = ['a', 'b', 'c', 'd'].map((name) => ({ kind: 'queue', name }));
    // The accepted topics of a closed stream still count against the limits for a while. Otherwise a client
    // could open new topics again and again.
    expect(await refusalsIn(await hostile!.stream(queues))).to.deep.equal([
      'perClient.queues',
      'perClient.queues',
    ]);
    const timelines = ['a', 'b'].map((name) => ({ kind: 'timeline', name }));
    expect(await refusalsIn(await hostile!.stream(timelines))).to.deep.equal(['perClient.topics']);
    expect(
      await refusalsIn(await other!.stream([...lists.slice(0, 2), ...queues.slice(0, 2)])),
    ).to.deep.equal([]);
  });

  it('leave other clients a part of the limit of watched queues of the bridge', async () => {
    await using s = await stage(byHeader({ queues: 4, perClient: { queues: 3 } }));
    const [hostile, other] = await Promise.all(['h', 'o'].map((client) => visitorAt(s.url, client)));
    for (let stream = 0; stream < 4; stream += 1) {
      const queues = Array.from({ length: 10 }, (_, n) => ({
        kind: 'queue',
        name: `${String(stream)}/${String(n)}`,
      }));
      await hostile!.stream(queues);
    }
    const lastRead = await other!.look('queue=q');
    expect(lastRead.status).to.equal(200);
    await leave(lastRead);
  });

  it('identify clients by address and principal, and count an IPv6 network as one address', () => {
    const v6 = (address: string): string | undefined => addressAndPrincipal({ remoteAddress: address });
    expect(v6('2001:db8:0:7::1')).to.equal(v6('2001:0db8::7:ffff:1:2:3'));
    expect(v6('2001:db8:0:7::1')).to.not.equal(v6('2001:db8:0:8::1'));
    expect(v6('::ffff:10.0.0.1')).to.equal(v6('10.0.0.1'));
    expect(v6('10.0.0.1')).to.not.equal(v6('10.0.0.2'));
    const [anna, bert] = ['anna', 'bert'].map((principal) =>
      addressAndPrincipal({ remoteAddress: '10.0.0.1', principal }),
    );
    expect(anna).to.not.equal(bert);
    expect(addressAndPrincipal({})).to.equal(undefined);
    expect(addressAndPrincipal({ principal: 'x'.repeat(10_000) })).to.have.length.below(300);
  });

  it('do not apply to clients without an id, for which only the limits of the whole bridge apply', () => {
    const quota = new Quota({ option: 'streams', perClient: 1, perBridge: 3 });
    for (let n = 0; n < 3; n += 1) quota.take(undefined);
    expect(() => quota.take(undefined)).to.throw(/the bridge has reached its limit of 3 \(limits\.streams\)/);
  });

  it('allow each client further requests as time passes, whatever other clients request', async () => {
    const clock = virtualClock();
    const rate = new RequestRate(10, clock);
    for (let n = 0; n < 50; n += 1) rate.take('a');
    expect(() => rate.take('a')).to.throw(/exceeds 10 requests of this kind per second/);
    rate.take('b');
    await clock.advance(100);
    rate.take('a');
    expect(() => rate.take('a')).to.throw();
  });

  it('let a page keep its joins while its other requests exceed the allowed rate', async () => {
    await using s = await stage({ limits: { perClient: { requestsPerSecond: 1 } } });
    const { post } = await programAt(s.url);
    const key = { id: '0123456789abcdef01234567', secret: 's'.repeat(32) };
    expect((await post('joins', { name: 'doc', key })).status).to.equal(200);
    let status = 200;
    for (let n = 0; n < 20 && status === 200; n += 1) ({ status } = await fetch(`${s.url}/v2/facts`));
    expect(status).to.equal(429);
    const touch = async (): Promise<number> => (await post('joins/touch', { joins: [key] })).status;
    for (let n = 0; n < 10; n += 1) expect(await touch()).to.equal(200);
    expect((await post(`joins/${key.id}/leave`, { secret: key.secret })).status).to.equal(200);
    status = 200;
    for (let n = 0; n < 1_000 && status === 200; n += 1) status = await touch();
    expect(status, 'a flood of touches').to.equal(429);
  });
});

describe('joins that have ended', () => {
  it('count towards the limits of joins until the same client needs room for a new join', async () => {
    await using s = await stage(byHeader({ joins: 3, perClient: { joins: 2 } }));
    const [hostile, other] = await Promise.all(['h', 'o'].map((client) => visitorAt(s.url, client)));
    const join = async (n: number): Promise<object> => {
      const key = { id: n.toString(16).padStart(24, '0'), secret: 's'.repeat(32) };
      expect((await hostile!.post('joins', { name: `q${String(n)}`, key })).status).to.equal(200);
      expect((await hostile!.post(`joins/${key.id}/leave`, { secret: key.secret })).status).to.equal(200);
      return key;
    };
    const kept = (await (await other!.post('joins', { name: 'kept' })).json()) as {
      id: string;
      secret: string;
    };
    const keys: object[] = [];
    for (let n = 0; n < 10; n += 1) keys.push(await join(n));
    const touched = await hostile!.post('joins/touch', { joins: keys });
    const { joins } = (await touched.json()) as { joins: { known: boolean }[] };
    expect(joins.map(({ known }) => known)).to.deep.equal([...Array<boolean>(8).fill(false), true, true]);
    const { joins: others } = (await (
      await other!.post('joins/touch', { joins: [{ id: kept.id, secret: kept.secret }] })
    ).json()) as { joins: { known: boolean }[] };
    expect(others[0]!.known).to.equal(true);
  });
});

describe('bytes of snapshots in flight', () => {
  const snapshot = (kilobytes: number): Uint8Array => new Uint8Array(kilobytes * 1_024);
  const nothing = (): void => undefined;

  it('are limited for each client', () => {
    const inFlight = new BytesInFlight({ perClient: 100 * 1_024, perBridge: 1_000 * 1_024 });
    let rooms = 0;
    const onRoom = (): void => void (rooms += 1);
    const read = inFlight.take(snapshot(60), 'slow', onRoom);
    expect(inFlight.take(snapshot(60), 'slow', onRoom)).to.equal(undefined);
    expect(inFlight.take(snapshot(60), 'other', nothing)).to.not.equal(undefined);
    read?.();
    expect(rooms).to.equal(1);
    expect(inFlight.take(snapshot(60), 'slow', onRoom)).to.not.equal(undefined);
  });

  it('are counted once for the bridge when many clients receive the same snapshot', () => {
    const inFlight = new BytesInFlight({ perClient: 100 * 1_024, perBridge: 100 * 1_024 });
    const shared = snapshot(60);
    for (let client = 0; client < 100; client += 1)
      expect(inFlight.take(shared, `client ${String(client)}`, nothing)).to.not.equal(undefined);
    expect(inFlight.take(snapshot(60), 'late', nothing)).to.equal(undefined);
  });

  it('may exceed the limit by one snapshot of at most 16 KiB', () => {
    const inFlight = new BytesInFlight({ perClient: 50 * 1_024, perBridge: 50 * 1_024 });
    const read = inFlight.take(snapshot(60), 'slow', nothing);
    expect(read).to.not.equal(undefined);
    expect(inFlight.take(snapshot(20), 'slow', nothing)).to.equal(undefined);
    expect(inFlight.take(snapshot(16), 'slow', nothing)).to.not.equal(undefined);
  });
});

describe('lists of queues that several pages watch with different prefixes', () => {
  it('are taken from one list that the bridge reads from the store', async () => {
    await using s = await stage();
    const owner = s.other('owner');
    for (const name of ['a/1', 'a/2', 'b/1', 'c']) await owner.acquire(name);
    const page = s.page();
    const all = page.queues('').subscribe();
    await seen(page.queues(''), ({ snapshot }) => snapshot?.count === 4);
    const watchers = s.server.watcherCount;
    for (const [prefix, names] of [
      ['a/', ['a/1', 'a/2']],
      ['a/2', ['a/2']],
      ['b', ['b/1']],
      ['c', ['c']],
      ['d', []],
    ] as const) {
      const { snapshot } = await seen(page.queues(prefix), ({ snapshot }) => snapshot !== undefined);
      expect(snapshot).to.include({ prefix, count: names.length, status: 'live' });
      expect(snapshot!.queues.map(({ name }) => name)).to.deep.equal(names);
    }
    expect(s.server.watcherCount).to.equal(watchers);
    const more = await owner.acquire('a/3');
    const { snapshot } = await seen(page.queues('a/'), ({ snapshot }) => snapshot?.count === 3);
    expect(snapshot!.queues[2]).to.include({
      name: 'a/3',
      depth: 1,
      front: String(more.order),
      departures: 0,
    });
    all.unsubscribe();
  });

  it('are sent again only when a queue with their prefix has changed', async () => {
    await using s = await stage({ times: { paceMs: 0 } });
    const owner = s.other('owner');
    await owner.acquire('a/1');
    const page = s.page();
    const snapshots: number[] = [];
    const reads = [
      page.queues('').subscribe(),
      page.queues('a/').subscribe(({ snapshot }) => void (snapshot && snapshots.push(snapshot.at))),
    ];
    await seen(page.queues('a/'), ({ snapshot }) => snapshot?.count === 1);
    for (let n = 0; n < 5; n += 1) {
      await owner.acquire(`b/${String(n)}`);
      await seen(page.queues(''), ({ snapshot }) => snapshot?.count === 2 + n);
    }
    expect(new Set(snapshots).size).to.equal(1);
    for (const readState of reads) readState.unsubscribe();
  });
});

describe('the body of a request', () => {
  it('is refused when it does not arrive in time, and delays no other request', async () => {
    await using s = await stage({ times: { bodyMs: 100 }, limits: { perClient: { bodies: 1 } } });
    const { facts, post } = await programAt(s.url);
    let end: () => void = () => undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Buffer.from('{'));
        end = () => controller.close();
      },
    });
    const headers = { 'content-type': 'application/json', 'queuelock-token': facts.token };
    const slow = { method: 'POST', headers, body, duplex: 'half' } as const;
    const response = await fetch(`${s.url}/v2/joins`, slow);
    end();
    expect(response.status).to.equal(408);
    const tab = new Tab(s.page().join('doc'));
    await tab.until('held');
    tab.close();
    expect((await post('token', '{')).status).to.equal(400);
  });
});
