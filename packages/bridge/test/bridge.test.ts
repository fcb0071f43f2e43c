import { createLockClient } from '@queuelock/core';
import { memory } from '@queuelock/memory';
import { expect } from 'chai';
import { merge } from 'rxjs';
import { createBridge, serve, type Action } from '../src/index.ts';
import { TOKEN_HEADER, type Refusal } from '../src/wire.ts';
import { programAt, seen, stage, Tab, untilSo } from './stage.ts';

const HOSTILE = '</script><script>alert(1)</script>\r\n\r\ndata: forged\u2028event: state';

describe('the bridge', () => {
  it('watches a queue once for all pages that show it, and for `lingerMs` after the last page leaves', async () => {
    await using s = await stage({ times: { lingerMs: 50 } });
    const before = s.server.watcherCount;
    const pages = Array.from({ length: 20 }, () => s.page());
    const reads = pages.map((page) => page.queue('q').subscribe());
    await Promise.all(pages.map((page) => seen(page.queue('q'), ({ snapshot }) => snapshot !== undefined)));
    const one = s.server.watcherCount - before;
    // The bridge opens one watch for the queue, and one for the queue's evictions.
    expect(one).to.equal(2);
    await seen(pages[0]!.timeline('q'), ({ snapshot }) => snapshot !== undefined);
    await seen(pages[0]!.election('q'), ({ snapshot }) => snapshot !== undefined);
    expect(s.server.watcherCount - before).to.equal(2);
    for (const readState of reads) readState.unsubscribe();
    await untilSo('nothing is watched any more', () => s.server.watcherCount === before);
  });

  it('shows a new page the grants and departures of a queue that another page watched before', async () => {
    await using s = await stage();
    const watching = s.page();
    const readState = watching.queue('q').subscribe();
    await seen(watching.queue('q'), ({ snapshot }) => snapshot?.status === 'live');
    await s.other('early').run('q', () => undefined);
    await untilSo('it has left', () => s.server.entryCount === 0);
    const { snapshot } = await seen(
      s.page().timeline('q'),
      ({ snapshot }) => snapshot?.spans[0]?.leftAt !== undefined,
    );
    expect(snapshot!.spans).to.have.lengthOf(1);
    expect(snapshot!.spans[0]).to.include({ owner: 'early' }).and.have.property('heldAt');
    readState.unsubscribe();
  });

  it('shows the holds that a store recorded before the bridge started, and none for a store without records', async () => {
    await using s = await stage();
    const early = createLockClient(memory({ server: s.server }), { owner: 'early', recordHolds: 5 });
    await early.run('q', () => undefined);
    await early.close();
    const { snapshot } = await seen(s.page().record('q'), (state) => state.snapshot?.status === 'live');
    expect(snapshot!.holds).to.have.lengthOf(1);
    expect(snapshot!.holds[0]).to.include({
      owner: 'early',
      status: 'ended',
      reason: 'released',
    });
    const late = createLockClient(memory({ server: s.server }), { owner: 'late', recordHolds: 5 });
    const hold = await late.acquire('q');
    await seen(s.page().record('q'), (state) => state.snapshot?.holds[1]?.status === 'held');
    await hold.release();
    await seen(s.page().record('q'), (state) => state.snapshot?.holds[1]?.status === 'ended');
    await late.close();
    const client = createLockClient(Object.assign(memory(), { registers: undefined }));
    await using bare = await stage({ client });
    const none = await seen(bare.page().record('q'), (state) => state.snapshot?.status === 'live');
    expect(none.snapshot!.holds).to.deep.equal([]);
    await client.close();
  });

  it('sends snapshots of queues, elections, sessions, deadlocks and faults', async () => {
    await using s = await stage();
    const page = s.page();
    const [a, b] = [s.other('a'), s.other('b')];
    const [heldA, heldB] = [await a.acquire('x'), await b.acquire('y')];
    const waits = [a.claim('y', { holding: [heldA] }), b.claim('x', { holding: [heldB] })];
    const subscriptions = waits.map((claim$) => claim$.subscribe());
    const queues = (await seen(page.queues(), ({ snapshot }) => snapshot?.queues.length === 2)).snapshot!;
    expect(queues).to.deep.include({ prefix: '', count: 2, status: 'live' });
    const sessions = (await seen(page.sessions(), ({ snapshot }) => snapshot?.sessions.length === 2))
      .snapshot!;
    expect(sessions.sessions[0]!.entries.map(({ name }) => name)).to.have.members(['x', 'y']);
    const { deadlocks } = (await seen(page.deadlocks(), ({ snapshot }) => snapshot?.deadlocks.length === 1))
      .snapshot!;
    expect(
      deadlocks[0]!.map(({ name, entry, waitsFor }) => [name, entry.owner, waitsFor.owner]),
    ).to.have.deep.members([
      ['y', 'a', 'b'],
      ['x', 'b', 'a'],
    ]);
    const election = (await seen(page.election('x'), ({ snapshot }) => snapshot?.candidates.length === 2))
      .snapshot!;
    expect(election.candidates[0]).to.include({ order: String(heldA.order) });
    await page.evict('x', { ...election.candidates[0]!, owner: 'a' }, { reason: 'stuck' });
    await seen(page.queue('x'), ({ snapshot }) => snapshot?.evictions.length === 1);
    const faults = (await seen(page.faults(), ({ snapshot }) => (snapshot?.faults.length ?? 0) > 0))
      .snapshot!;
    expect(faults.faults[0]).to.include({ kind: 'eviction', about: 'x' });
    expect(faults.findings[0]).to.include({ level: 'ok' });
    for (const subscription of subscriptions) subscription.unsubscribe();
  });

  it("shows the remaining time of a page's hold and the token of every holder", async () => {
    await using s = await stage();
    const tab = new Tab(s.page().join('q'));
    const { lock } = await tab.until('held');
    const { snapshot } = await seen(
      s.page().queue('q'),
      ({ snapshot }) =>
        snapshot?.entries[0]?.remainingMs !== undefined && snapshot.entries[0].token !== undefined,
    );
    expect(snapshot!.entries[0]!.remainingMs).to.be.within(1, 10_000);
    expect(snapshot!.entries[0]!.token).to.equal(lock.token);
    const [entry] = snapshot!.entries;
    expect(await s.page().tokenOf('q', entry!)).to.equal(lock.token);
    tab.close();
  });

  it('passes names, owners and metadata that contain markup or line breaks to pages unchanged', async () => {
    await using s = await stage();
    const page = s.page();
    const tab = new Tab(page.join(HOSTILE, { owner: HOSTILE, metadata: { [HOSTILE]: HOSTILE } }));
    await tab.until('held');
    const { snapshot } = await seen(page.queue(HOSTILE), ({ snapshot }) => snapshot?.entries.length === 1);
    expect(snapshot!.name).to.equal(HOSTILE);
    expect(snapshot!.entries[0]).to.deep.include({ owner: HOSTILE, metadata: { [HOSTILE]: HOSTILE } });
    tab.close();
  });

  it('refuses an invalid topic and sends the other topics of the same stream', async () => {
    const authorize = (_: Request, action: Action): boolean =>
      !(action.kind === 'watch' && action.topic.kind === 'queue' && action.topic.name === 'secret');
    await using s = await stage({ authorize });
    const page = s.page();
    const [secret, open] = await Promise.all([
      seen(page.queue('secret'), ({ refusal }) => refusal !== undefined),
      seen(page.queue('open'), ({ snapshot }) => snapshot !== undefined),
    ]);
    expect([secret.refusal?.code, secret.snapshot]).to.deep.equal(['ACCESS_DENIED', undefined]);
    expect(open.connection).to.equal('live');
    expect((await fetch(`${s.url}/v2/stream?queue=secret`)).status).to.equal(403);
  });

  it('resumes a stream after the event whose id the page sends', async () => {
    await using s = await stage();
    await s.other('a').acquire('q');
    const first = await eventAt(`${s.url}/v2/stream?queue=q`, {});
    expect(first).to.match(/^id: \S+\.\d+$/m);
    const id = /^id: (.*)$/m.exec(first)![1]!;
    const controller = new AbortController();
    const response = await fetch(`${s.url}/v2/stream?queue=q`, {
      headers: { 'last-event-id': id },
      signal: controller.signal,
    });
    const reader = response.body!.getReader();
    await reader.read();
    const next = reader.read();
    const b = s.other('b').claim('q').subscribe();
    expect(new TextDecoder().decode((await next).value as Uint8Array)).to.contain('"owner":"b"');
    b.unsubscribe();
    controller.abort();
  });

  it("uses the name that authorize returned as the owner of a page's entry", async () => {
    const actions: Action[] = [];
    const authorize = (_: Request, action: Action) => (actions.push(action), { name: 'olga' });
    await using s = await stage({ authorize, storeLabel: 'memory:' });
    const page = s.page();
    expect(await page.facts()).to.include({ identity: 'olga', storeLabel: 'memory:' });
    const tab = new Tab(page.join('q', { owner: 'somebody else' }));
    await tab.until('held');
    const { snapshot } = await seen(page.queue('q'), ({ snapshot }) => snapshot?.entries.length === 1);
    expect(snapshot!.entries[0]!.owner).to.equal('olga');
    await page.evict('q', snapshot!.entries[0]!, { reason: 'hangs' });
    const after = await seen(page.queue('q'), ({ snapshot }) => snapshot?.evictions.length === 1);
    expect(after.snapshot!.evictions[0]).to.deep.include({ reason: 'olga: hangs' });
    expect(actions).to.deep.include({ kind: 'evict', name: 'q' });
  });

  it('refuses an action when authorize refuses or throws, with a clear error', async () => {
    const authorize = (_: Request, { kind }: Action): boolean => {
      if (kind === 'ask') throw new Error('the user database is down: password=hunter2');
      return kind === 'facts';
    };
    await using s = await stage({ authorize });
    const { facts, post } = await programAt(s.url);
    expect(facts.may).to.deep.equal({ evict: false, ask: false, join: false });
    const bodies = {
      joins: { name: 'q' },
      ask: { name: 'q', reason: 'r', withinMs: 1 },
      evict: { name: 'q', entry: { key: 'k', order: '1', owner: 'o' }, reason: 'r' },
      token: { name: 'q', entry: { key: 'k', order: '1' } },
    };
    for (const [path, body] of Object.entries(bodies)) {
      const response = await post(path, body);
      const { error } = (await response.json()) as Refusal;
      expect([response.status, error.code, error.message.includes('hunter2')]).to.deep.equal([
        403,
        'ACCESS_DENIED',
        false,
      ]);
    }
  });

  it('responds to malformed requests with INVALID_ARGUMENT', async () => {
    await using s = await stage();
    const { post } = await programAt(s.url);
    const bodies = [
      '',
      '{',
      '[]',
      '{"name":""}',
      '{"name":7}',
      '{"name":"q","unknown":1}',
      `{"name":"${'x'.repeat(600)}"}`,
    ];
    for (const body of bodies) {
      const response = await post('joins', body);
      expect([response.status, ((await response.json()) as Refusal).error.code], body).to.deep.equal([
        400,
        'INVALID_ARGUMENT',
      ]);
    }
    expect((await post('joins', `{"name":"${'x'.repeat(300_000)}"}`)).status).to.equal(413);
    expect((await post('nothing', {})).status).to.equal(404);
    expect((await fetch(`${s.served.url}/elsewhere`)).status).to.equal(404);
    expect((await fetch(`${s.url}/v2/stream`)).status).to.equal(400);
    expect((await fetch(`${s.url}/v2/stream?unknown=x`)).status).to.equal(400);
    expect((await fetch(`${s.url}/v2/facts`, { method: 'DELETE' })).status).to.equal(404);
  });

  it('refuses changes from another site and under another host name, also with a valid token', async () => {
    await using s = await stage();
    const { facts } = await programAt(s.url);
    const attacks = [
      { origin: 'https://evil.example' },
      { host: 'rebound.example', origin: 'http://rebound.example' },
      { 'sec-fetch-site': 'cross-site' },
      { [TOKEN_HEADER]: 'guessed' },
      { 'content-type': 'text/plain' },
    ];
    for (const attack of attacks) {
      const headers = {
        host: 'localhost',
        'content-type': 'application/json',
        [TOKEN_HEADER]: facts.token,
        ...attack,
      };
      const request = new Request(`${s.url}/v2/joins`, { method: 'POST', body: '{"name":"q"}', headers });
      const response = await s.bridge.handle(request);
      expect(response.status, JSON.stringify(attack)).to.be.oneOf([403, 415]);
      expect(response.headers.get('access-control-allow-origin')).to.equal(null);
    }
    const rebound = await s.bridge.handle(
      new Request(`${s.url}/v2/facts`, { headers: { host: 'rebound.example' } }),
    );
    expect(rebound.status, 'the token is not told either').to.equal(403);
    expect(s.server.entryCount).to.equal(0);
  });

  it('sends headers that forbid browsers to cache, frame, sniff or share any response', async () => {
    await using s = await stage();
    for (const path of ['facts', 'nothing', 'stream?queue=q']) {
      const response = await fetch(`${s.url}/v2/${path}`);
      expect(Object.fromEntries(response.headers)).to.include({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      });
      expect(response.headers.get('cache-control')).to.match(/^no-store/);
      await response.body?.cancel();
    }
  });

  it('encodes no snapshot while a client does not read, and only the latest snapshot when the client reads again', async () => {
    await using s = await stage({ times: { paceMs: 0 } });
    const response = await s.bridge.handle(new Request(`${s.url}/v2/stream?queue=q`));
    const reader = response.body!.getReader();
    await reader.read();
    const page = s.page();
    for (let n = 1; n <= 50; n += 1) {
      const ownership = await s.client.acquire('q', { owner: `n${String(n)}` });
      await seen(page.queue('q'), ({ snapshot }) => snapshot?.entries[0]?.owner === `n${String(n)}`);
      if (n < 50) await ownership.release();
    }
    const latest = await reader.read();
    expect(new TextDecoder().decode(latest.value as Uint8Array)).to.contain('"owner":"n50"');
    await reader.cancel();
  });

  it('shows only the valid parts of malformed records that other programs wrote', async () => {
    await using s = await stage();
    const stranger = s.other('stranger');
    const odd = { entry: { key: 'k', order: '1', owner: 'o' }, kind: 'evicted', by: 'b', reason: 'r' };
    const records = [{ ...odd, by: 7, at: 1 }, { ...odd, at: 1 }, { entry: { order: '2' } }];
    const text = JSON.stringify(records).replace(
      /]$/,
      `,${JSON.stringify({ ...odd, at: 0 }).replace(/0}$/, '1e999}')}]`,
    );
    await stranger.register('odd', 'evictions').change(() => text);
    const value =
      '{"owner":"o","request":{"reason":"r","withinMs":1e999},"since":1e999,"metadata":{"a":1,"__proto__":"p"}}';
    const entry = stranger.claim('odd', { value }).subscribe();
    const { snapshot } = await seen(s.page().queue('odd'), ({ snapshot }) => snapshot?.entries.length === 1);
    expect(snapshot!.entries[0]).to.include({ owner: 'o' }).and.not.have.any.keys('request', 'since');
    await seen(s.page().queue('odd'), ({ snapshot }) => snapshot?.evictions.length === 1);
    entry.unsubscribe();
  });

  it("refuses streams, queues, joins and topics beyond the bridge's limits", async () => {
    await using s = await stage({ limits: { streams: 2, queues: 1, joins: 1 } });
    const { post } = await programAt(s.url);
    const readState = (name: string): Promise<Response> => fetch(`${s.url}/v2/stream?queue=${name}`);
    const first = await readState('one');
    expect((await readState('two')).status, 'queues').to.equal(503);
    const second = await readState('one');
    expect((await readState('one')).status, 'streams').to.equal(503);
    expect((await post('joins', { name: 'q' })).status).to.equal(200);
    expect((await post('joins', { name: 'q' })).status, 'joins').to.equal(503);
    await Promise.all([first.body?.cancel(), second.body?.cancel()]);
    const topics = Array.from({ length: 65 }, () => ({ topic: { kind: 'queue', name: 'one' } }));
    expect((await post('stream', { topics })).status, 'topics').to.equal(400);
  });

  it('leaves no watch, entry or timer behind when it is closed', async () => {
    const s = await stage();
    const page = s.page();
    const tab = new Tab(page.join('q'));
    await tab.until('held');
    const reads = merge(
      page.queue('q'),
      page.queues(),
      page.sessions(),
      page.deadlocks(),
      page.faults(),
    ).subscribe();
    await seen(page.queue('q'), ({ snapshot }) => snapshot !== undefined);
    await s.bridge.close();
    expect(s.server.entryCount).to.equal(0);
    await untilSo('nothing is watched', () => s.server.watcherCount === 0);
    expect((await fetch(`${s.url}/v2/facts`)).status).to.equal(503);
    reads.unsubscribe();
    await s[Symbol.asyncDispose]();
  });

  it('names an invalid option in the error of createBridge or serve', async () => {
    const client = createLockClient(memory());
    const make = (options: object) => () => createBridge({ client, authorize: () => true, ...options });
    expect(make({ authorize: undefined })).to.throw(/authorize is a function/);
    expect(make({ basePath: 'x/' })).to.throw(/basePath/);
    expect(make({ times: { graceMs: -1 } })).to.throw(/times\.graceMs/);
    expect(make({ limits: { many: 1 } })).to.throw(/limits: many is unknown, known options are streams/);
    expect(make({ limits: { stream: 1 } })).to.throw(/did you mean streams\?/);
    expect(make({ limits: null })).to.throw(/limits must be an object; got null/);
    expect(make({ times: { paceMs: null } })).to.throw(/paceMs is a number; got null/);
    expect(make({ basepath: '/x' })).to.throw(/basepath is unknown, did you mean basePath\?/);
    expect(make({ allowedHosts: 'h' })).to.throw(/allowedHosts is a list of names; got "h"/);
    expect(make({ client: undefined })).to.throw(/client must be an object; got undefined/);
    await client.close();
    const handle = (): Promise<Response> => Promise.resolve(new Response());
    const refusal = await serve({ handle, ports: 1 } as never).catch((error: unknown) => error);
    expect(String(refusal)).to.include('options of serve: ports is unknown, did you mean port?');
  });
});

/** Opens a stream of the bridge, and returns its text up to the end of the first event `state`. */
async function eventAt(url: string, headers: Record<string, string>): Promise<string> {
  const response = await fetch(url, { headers });
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (!/^id: [^]*\n\n$/m.test(text))
    text += decoder.decode((await reader.read()).value as Uint8Array, { stream: true });
  await reader.cancel();
  return text;
}
