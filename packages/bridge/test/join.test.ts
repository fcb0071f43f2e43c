import { expect } from 'chai';
import { startProxy } from '@queuelock/harness/faults';
import { safely } from '@queuelock/harness/safety';
import { createBridgeClient } from '../src/client.ts';
import { createBridge, serve } from '../src/index.ts';
import { programAt, seen, stage, Tab, untilSo } from './stage.ts';

const QUICK = { times: { graceMs: 1_000 } };

describe('the join of a page', () => {
  it('is queued, held with a token, and released', async () => {
    await using s = await stage();
    const first = await s.other('program').acquire('doc');
    const tab = new Tab(s.page().join('doc', { owner: 'anna', metadata: { cursor: '7' } }));
    const queued = await tab.until('queued');
    expect(queued.position).to.equal(1);
    const { entries } = (await seen(s.page().queue('doc'), ({ snapshot }) => snapshot?.entries.length === 2))
      .snapshot!;
    expect(entries[1]).to.deep.include({ owner: 'anna', metadata: { cursor: '7' }, position: 1 });
    await first.release();
    const { lock } = await tab.until('held');
    expect(lock).to.include({ name: 'doc', held: true, token: queued.token });
    expect(lock.remainingMs).to.be.within(1, 5_000);
    safely(() => expect(BigInt(lock.token) > first.token).to.equal(true));
    await lock.release();
    expect(await tab.until('ended')).to.include({ outcome: 'released' });
    expect([lock.held, lock.signal.aborted, s.server.entryCount]).to.deep.equal([false, false, 0]);
  });

  it('is granted after the joins of earlier pages, and shows the page its position', async () => {
    await using s = await stage();
    const page = s.page();
    const tabs = ['a', 'b', 'c'].map((owner) => () => new Tab(page.join('doc', { owner })));
    const a = tabs[0]!();
    const { lock } = await a.until('held');
    const b = tabs[1]!();
    await b.until('queued', ({ position }) => position === 1);
    const c = tabs[2]!();
    await c.until('queued', ({ position }) => position === 2);
    await lock.release();
    await b.until('held');
    await c.until('queued', ({ position }) => position === 1);
    b.close();
    await c.until('held');
    c.close();
    await untilSo('nobody is in line', () => s.server.entryCount === 0);
  });

  it('leaves the queue when the page unsubscribes, even before the bridge has responded to the join', async () => {
    await using s = await stage();
    const page = s.page();
    const early = new Tab(page.join('doc'));
    const waits = new Tab(page.join('doc'));
    early.close();
    await waits.until('held');
    waits.close();
    const tab = new Tab(page.join('doc'));
    await tab.until('held');
    tab.close();
    await untilSo('nobody is in line', () => s.server.entryCount === 0);
  });

  it("leaves the queue when the page's connection stays broken for longer than the grace", async () => {
    await using s = await stage(QUICK);
    const { facts } = await programAt(s.url);
    await using proxy = await startProxy(`127.0.0.1:${String(s.served.port)}`);
    const page = createBridgeClient({ url: `http://${proxy.endpoint}/queuelock` });
    const tab = new Tab(page.join('doc'));
    const { lock } = await tab.until('held');
    const lost = new Promise((resolve) => lock.signal.addEventListener('abort', resolve));
    proxy.refuse();
    proxy.cut();
    await lost;
    safely(() => {
      expect(lock.held).to.equal(false);
      expect(s.server.entryCount, 'the page knows before the bridge lets go').to.equal(1);
    });
    expect(lock.signal.reason).to.include({ code: 'OWNERSHIP_LOST' });
    expect(await tab.until('ended')).to.include({ outcome: 'lost' });
    await untilSo('nobody is in line', () => s.server.entryCount === 0);
    expect(facts.may.join).to.equal(true);
    page.close();
  });

  it('leaves the queue when the page sends no more requests while its connection looks open', async () => {
    await using s = await stage(QUICK);
    await using proxy = await startProxy(`127.0.0.1:${String(s.served.port)}`);
    const page = createBridgeClient({ url: `http://${proxy.endpoint}/queuelock` });
    const tab = new Tab(page.join('doc'));
    const { lock } = await tab.until('held');
    await untilSo('it has touched', () => lock.remainingMs > 0 && tab.states.length > 1);
    proxy.toServer.hold();
    await untilSo('nobody is in line', () => s.server.entryCount === 0);
    safely(() => expect(lock.held).to.equal(false));
    await tab.until('ended');
    await proxy.heal();
    page.close();
  });

  it('survives a broken connection that is restored within the grace period', async () => {
    await using s = await stage();
    await using proxy = await startProxy(`127.0.0.1:${String(s.served.port)}`);
    const page = createBridgeClient({ url: `http://${proxy.endpoint}/queuelock` });
    const first = await s.other('program').acquire('doc');
    const tab = new Tab(page.join('doc'));
    const { id } = await tab.until('queued');
    proxy.cut();
    await tab.until('queued', ({ connection }) => connection === 'stale');
    await tab.until('queued', ({ connection }) => connection === 'live');
    await first.release();
    const { lock } = await tab.until('held');
    expect(lock.id).to.equal(id);
    proxy.cut();
    await tab.until('held', ({ connection }) => connection === 'stale');
    await tab.until('held', ({ connection }) => connection === 'live');
    expect(lock.held).to.equal(true);
    page.close();
  });

  it('adds one entry when the page repeats a join request whose response was lost', async () => {
    await using s = await stage();
    const { post } = await programAt(s.url);
    const key = { id: '0123456789abcdef01234567', secret: 's'.repeat(32) };
    for (let n = 0; n < 2; n += 1)
      expect(await (await post('joins', { name: 'doc', key })).json()).to.include({ ...key, graceMs: 5_000 });
    await untilSo('it has joined', () => s.server.entryCount > 0);
    expect(s.server.entryCount).to.equal(1);
    const thief = { ...key, secret: 't'.repeat(32) };
    expect((await post('joins', { name: 'doc', key: thief })).status).to.equal(404);
    expect((await post(`joins/${key.id}/leave`, { secret: thief.secret })).status).to.equal(404);
    expect((await post(`joins/${key.id}/leave`, { secret: key.secret })).status).to.equal(200);
    expect(s.server.entryCount).to.equal(0);
  });

  it('needs no touches while the client reads the states of the join as a response stream', async () => {
    await using s = await stage({ times: { graceMs: 500 } });
    const { post } = await programAt(s.url);
    const response = await post('joins', { name: 'doc', owner: 'curl' }, { accept: 'text/event-stream' });
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    let text = '';
    while (!text.includes('"status":"held"'))
      text += decoder.decode((await reader.read()).value as Uint8Array, {
        stream: true,
      });
    expect(text).to.match(/^retry: 1000\nevent: hello\n.*\n\nevent: joined\ndata: {"id":"[0-9a-f]{24}"/);
    for (let heartbeats = 0; heartbeats < 4; heartbeats += 1) await reader.read();
    expect(s.server.entryCount).to.equal(1);
    await reader.cancel();
    await untilSo('nobody is in line', () => s.server.entryCount === 0);
  });

  it('is lost when the bridge restarts, and the page learns of the loss when it reconnects', async () => {
    const s = await stage();
    const tab = new Tab(s.page().join('doc'));
    const { lock } = await tab.until('held');
    await s.served.close();
    await tab.until('held', ({ connection }) => connection === 'stale');
    await using again = createBridge({ client: s.client, authorize: () => true });
    await using served = await serve({ handle: again.handle, port: s.served.port });
    const { outcome, error } = await tab.until('ended');
    expect([outcome, error?.code, lock.held]).to.deep.equal(['lost', 'OWNERSHIP_LOST', false]);
    expect(served.port).to.equal(s.served.port);
    await s[Symbol.asyncDispose]();
  });

  it('is lost at once when an operator evicts it, and the page is notified', async () => {
    await using s = await stage();
    const tab = new Tab(s.page().join('doc', { owner: 'anna' }));
    const { lock } = await tab.until('held');
    const { snapshot } = await seen(
      s.page().queue('doc'),
      ({ snapshot }) => snapshot?.entries[0]?.token !== undefined,
    );
    expect(snapshot!.entries[0]).to.include({ token: lock.token, id: lock.id });
    expect(await s.page().evict('doc', snapshot!.entries[0]!, { reason: 'hangs' })).to.equal(true);
    const { outcome, error } = await tab.until('ended');
    expect([outcome, error?.code, lock.signal.aborted]).to.deep.equal(['lost', 'OWNERSHIP_LOST', true]);
    expect(error?.eviction).to.deep.equal({ kind: 'evicted', by: 'bridge', reason: 'hangs' });
    expect(await s.page().evict('doc', snapshot!.entries[0]!, { reason: 'hangs' })).to.equal(false);
  });

  it('ends with TIMEOUT when its wait exceeds timeoutMs', async () => {
    await using s = await stage();
    await s.other('program').acquire('doc');
    const tab = new Tab(s.page().join('doc', { timeoutMs: 50 }));
    const { outcome, error } = await tab.until('ended');
    expect([outcome, error?.code]).to.deep.equal(['failed', 'TIMEOUT']);
  });

  it('is refused without a retry when the name is invalid or access is denied', async () => {
    await using s = await stage();
    const tab = new Tab(s.page().join('doc', { metadata: { long: 'x'.repeat(2_000) } }));
    const { outcome, error } = await tab.until('ended');
    expect([outcome, error?.code, error?.retryable]).to.deep.equal(['failed', 'INVALID_ARGUMENT', false]);
  });

  it('notifies the page of handover requests, and releases the lock when the page yields', async () => {
    await using s = await stage();
    const [holder, requester] = [s.page(), s.page()];
    const tab = new Tab(holder.join('doc'));
    await tab.until('held');
    const declined = requester.ask('doc', { reason: 'urgent', withinMs: 10_000 });
    const { lock } = await tab.until('held', ({ lock: { requests } }) => requests.length === 1);
    expect(lock.requests[0]).to.include({ reason: 'urgent', owner: 'browser', withinMs: 10_000 });
    await lock.answer(lock.requests[0]!.from, 'decline', 'in the middle of it');
    expect(await declined).to.deep.equal({ answer: 'declined', reason: 'in the middle of it' });
    await tab.until('held', ({ lock: { requests } }) => requests.length === 0);
    const other = new Tab(requester.join('doc', { request: { reason: 'please', withinMs: 10_000 } }));
    await tab.until('held', ({ lock: { requests } }) => requests.length === 1);
    await lock.answer(lock.requests[0]!.from, 'yield');
    await other.until('held');
    expect(await tab.until('ended')).to.include({ outcome: 'released' });
    other.close();
    expect(await requester.ask('free', { reason: 'anybody?', withinMs: 1_000 })).to.deep.equal({
      answer: 'free',
    });
  });
});
