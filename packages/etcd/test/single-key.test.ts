import { safely } from '@queuelock/conformance';
import { createLockClient } from '@queuelock/core';
import { etcd, type EtcdOptions } from '@queuelock/etcd';
import type { EntrySpec, Placement, Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { etcdTransport } from '@queuelock/harness/services/etcd-transport';
import { eventually, freshQueue, newSpec } from './clients.ts';
import { MixedClients, ownName, type OldClient } from './old-locks.ts';
import { OwnServer } from './own-server.ts';
import { requestsOf } from './requests.ts';

const neverAborted = new AbortController().signal;

async function failureOf(
  promise: Promise<unknown> | undefined,
): Promise<{ code?: unknown; message: string }> {
  const failure: unknown = await promise?.then(
    () => new Error('it succeeded'),
    (error: unknown) => error,
  );
  return failure as Error;
}

describe('an etcd queue with a single key', () => {
  const own = new OwnServer();
  let old: OldClient;
  let queue: string;
  const clients = new MixedClients();

  beforeEach(() => {
    queue = freshQueue();
    old = clients.old(own.server.endpoint);
  });
  afterEach(() => clients.close());

  const open = (more: EtcdOptions = {}): Promise<Session> =>
    clients.session({ hosts: own.server.endpoint, heartbeatProof: 'verified', singleKey: ownName, ...more });
  const everything = (): Promise<string[]> => own.operator.keysUnder(queue);
  const enterAll = async (session: Session, specs: readonly EntrySpec[]): Promise<readonly Placement[]> =>
    (await session.enqueueAll?.(specs)) ?? [];

  it('makes a waiter wait until a lock of npm etcd3 has released the single key', async () => {
    const session = await open();
    const held = await old.tryLock(queue);
    const spec = newSpec(queue);
    const placement = await session.enqueue(spec);
    expect(placement.turn).to.deep.equal({ admitted: false });
    const turns = clients.follow(placement);
    await eventually('it waits', () => turns.turn !== undefined);
    safely(() => expect(turns.turn?.admitted).to.equal(false));
    await held?.release();
    await turns.untilAdmitted();
    expect(await own.operator.under(queue)).to.deep.equal({ [queue]: placement.key, [placement.key]: '' });
    expect(await own.operator.leaseOf(queue)).to.equal(session.id);
  });

  it("blocks npm etcd3's lock while a client of queuelock holds", async () => {
    const session = await open();
    const spec = newSpec(queue);
    expect((await session.enqueue(spec)).turn).to.include({ admitted: true, ahead: 0 });
    const theirs = await old.tryLock(queue);
    safely(() => expect(theirs).to.equal(undefined));
    expect(await session.remove(queue, spec.id)).to.equal(true);
    expect(await everything()).to.deep.equal([]);
    const held = await old.tryLock(queue);
    expect(held).not.to.equal(undefined);
    await held?.release();
  });

  it('makes holders of queuelock and of python-etcd3 exclude each other', async () => {
    const session = await open({ singleKey: (name) => `/locks/${name}` });
    expect(await old.tryLockByValue(`/locks/${queue}`, 'uuid')).to.equal(true);
    const spec = newSpec(queue);
    const turns = clients.follow(await session.enqueue(spec));
    expect(await old.unlockByValue(`/locks/${queue}`, 'uuid')).to.equal(true);
    await turns.untilAdmitted();
    expect(await old.tryLockByValue(`/locks/${queue}`, 'uuid')).to.equal(false);
    expect(await old.unlockByValue(`/locks/${queue}`, 'uuid')).to.equal(false);
    await session.remove(queue, spec.id);
    expect(await own.operator.keysUnder(`/locks/${queue}`)).to.deep.equal([]);
  });

  it('has one holder at a time when many clients with and without queues contend', async function () {
    this.timeout(60_000);
    const options = { hosts: own.server.endpoint, singleKey: ownName };
    const ours = [1, 2, 3].map(() => createLockClient(etcd({ ...etcdTransport(), ...options })));
    let inside = 0;
    let grants = 0;
    const critical = async (): Promise<void> => {
      inside += 1;
      safely(() => expect(inside, 'holders at a time').to.equal(1));
      await own.operator.keysUnder(queue);
      inside -= 1;
      grants += 1;
    };
    const theirs = async (): Promise<void> => {
      for (let round = 0; round < 6; round += 1) {
        const lock = await old.lock(queue);
        await critical();
        await lock.release();
      }
    };
    const rounds = ours.flatMap((client) => Array.from({ length: 8 }, () => client.run(queue, critical)));
    await Promise.all([...rounds, theirs(), theirs()]);
    expect(grants).to.equal(36);
    await Promise.all(ours.map((client) => client.close()));
    expect(await everything()).to.deep.equal([]);
  });

  it('grants its waiters in order after a client without queues has released the key', async () => {
    const sessions = [await open(), await open(), await open()];
    const held = await old.tryLock(queue);
    const specs = sessions.map(() => newSpec(queue));
    const logs = [];
    for (const [i, session] of sessions.entries())
      logs.push(clients.follow(await session.enqueue(specs[i]!)));
    await held?.release();
    for (const [i, session] of sessions.entries()) {
      await logs[i]!.untilAdmitted();
      expect(logs.filter(({ turn }) => turn?.admitted)).to.have.length(i + 1);
      await session.remove(queue, specs[i]!.id);
    }
    expect(await everything()).to.deep.equal([]);
  });

  it('uses the revision at which the single key was created as the token of the grant', async () => {
    const session = await open();
    const held = await old.tryLock(queue);
    const placement = await session.enqueue(newSpec(queue));
    const turns = clients.follow(placement);
    await held?.release();
    await turns.untilAdmitted();
    expect(turns.turn?.grantToken).to.equal(await own.operator.createRevisionOf(queue));
  });

  it('needs three requests for a lock and its release, and one request for tryEnqueue', async () => {
    const session = await open();
    const [spec, tried, busy] = [newSpec(queue), newSpec(queue), newSpec(queue)];
    const free = await requestsOf(own.server.endpoint, async () => {
      await session.enqueue(spec);
      await session.remove(queue, spec.id);
    });
    expect(free).to.equal(3);
    const trying = await requestsOf(own.server.endpoint, async () => {
      expect((await session.tryEnqueue(tried))?.turn.admitted).to.equal(true);
    });
    expect(trying).to.equal(1);
    expect(await own.operator.leaseOf(queue)).to.equal(session.id);
    await session.remove(queue, tried.id);
    await old.tryLock(queue);
    const inVain = await requestsOf(own.server.endpoint, async () => {
      expect(await session.tryEnqueue(busy)).to.equal(undefined);
    });
    expect(inVain).to.equal(1);
    expect(await everything()).to.deep.equal([queue]);
  });

  it('uses only the single key of its own name, even with a prefix and nested names', async () => {
    const session = await open({ prefix: 'team/' });
    const inner = newSpec(`${queue}/nested`);
    expect((await session.enqueue(inner)).turn.admitted).to.equal(true);
    expect(await old.tryLock(`${queue}/nested`)).to.equal(undefined);
    const outer = newSpec(queue);
    expect((await session.tryEnqueue(outer))?.turn.admitted).to.equal(true);
    await session.remove(queue, outer.id);
    await old.tryLock(queue);
    expect(await session.tryEnqueue(newSpec(queue))).to.equal(undefined);
    expect(await own.operator.keysUnder(`team/${queue}/`)).to.deep.equal([
      `team/${queue}/nested/${session.id}-${inner.id}`,
    ]);
  });

  it('lets a multi-lock take all of its single keys in one revision, or none of them', async () => {
    const session = await open();
    const specs = ['a', 'b', 'c'].map((name) => newSpec(`${queue}-${name}`));
    const held = await old.tryLock(specs[1]!.queue);
    const placements = await enterAll(session, specs);
    expect(placements.map(({ turn }) => turn)).to.deep.equal(specs.map(() => ({ admitted: false })));
    const logs = placements.map((placement) => clients.follow(placement));
    // The multi-lock takes none of its single keys while another client has locked one of them. So a client without queues can lock a key that is
    // still free, and no client holds one key while it waits for another.
    const other = await old.tryLock(specs[0]!.queue);
    expect(other).not.to.equal(undefined);
    await held?.release();
    await eventually(
      'it has tried again',
      async () => (await own.operator.keysUnder(specs[1]!.queue)).length === 1,
    );
    await other?.release();
    for (const log of logs) await log.untilAdmitted();
    const created = await Promise.all(specs.map((spec) => own.operator.createRevisionOf(spec.queue)));
    expect(new Set(created)).to.have.property('size', 1);
    for (const spec of specs) expect(await session.remove(spec.queue, spec.id)).to.equal(true);
    expect(await everything()).to.deep.equal([]);
  });

  it('lets a multi-lock take its single keys only when all its entries are admitted', async () => {
    // The session `holder` imitates a client in Go: it uses the queue, but creates no single keys.
    const [session, holder] = [await open(), await open({ singleKey: () => undefined })];
    const specs = ['a', 'b'].map((name) => newSpec(`${queue}-${name}`));
    const ahead = newSpec(specs[1]!.queue);
    await holder.enqueue(ahead);
    const placements = await enterAll(session, specs);
    expect(placements.map(({ turn }) => turn.admitted)).to.deep.equal([false, false]);
    const logs = placements.map((placement) => clients.follow(placement));
    await eventually('they are followed', () => logs.every(({ turn }) => turn !== undefined));
    // Updates the entries of the multi-lock. When the updates resolve, all earlier requests of the session have reached the server.
    for (const { queue: name, id } of specs) expect(await session.update(name, id, 'waits')).to.equal(true);
    safely(() => expect(logs.map(({ turn }) => turn?.admitted)).to.deep.equal([false, false]));
    const held = await old.tryLock(specs[0]!.queue);
    expect(held).not.to.equal(undefined);
    await held?.release();
    await holder.remove(ahead.queue, ahead.id);
    for (const log of logs) await log.untilAdmitted();
  });

  it('can be in a multi-lock with a queue that has no single key', async () => {
    const session = await open({ singleKey: (name) => (name.endsWith('a') ? name : undefined) });
    const specs = ['a', 'b'].map((name) => newSpec(`${queue}-${name}`));
    const held = await old.tryLock(specs[0]!.queue);
    const logs = (await enterAll(session, specs)).map((placement) => clients.follow(placement));
    await held?.release();
    for (const log of logs) await log.untilAdmitted();
    expect(await everything()).to.have.length(3);
  });

  it('lets one multi-lock take the single keys of 60 queues', async () => {
    const session = await open();
    const specs = Array.from({ length: 60 }, (_, i) => newSpec(`${queue}-${i}`));
    const placements = await enterAll(session, specs);
    expect(placements.filter(({ turn }) => turn.admitted)).to.have.length(60);
    expect(await everything()).to.have.length(120);
    await Promise.all(specs.map((spec) => session.remove(spec.queue, spec.id)));
    expect(await everything()).to.deep.equal([]);
  });

  it('refuses readers and limits above 1, with a reason', async () => {
    const session = await open();
    const shared = await failureOf(session.enqueue(newSpec(queue, { shared: true })));
    expect(shared).to.include({ code: 'INVALID_ARGUMENT' });
    expect(shared.message).to.match(/mode is 'exclusive' as long as .* has a single key/);
    const permits = await failureOf(session.tryEnqueue(newSpec(queue, { limit: 2 })));
    expect(permits).to.include({ code: 'INVALID_ARGUMENT' });
    expect(permits.message).to.match(/limit is 1 as long as/);
    const same = [newSpec(`${queue}-a`), newSpec(`${queue}-b`)];
    const one = await open({ singleKey: () => queue });
    expect(await failureOf(one.enqueueAll?.(same))).to.include({ code: 'INVALID_ARGUMENT' });
    expect(await everything()).to.deep.equal([]);
  });

  it('keeps the key until a downgraded writer leaves', async () => {
    const session = await open();
    const spec = newSpec(queue);
    await session.enqueue(spec);
    expect(await session.share?.(queue, spec.id, '')).to.equal(true);
    const theirs = await old.tryLock(queue);
    safely(() => expect(theirs).to.equal(undefined));
    expect((await session.enqueue({ ...spec, shared: true })).turn.admitted).to.equal(true);
    expect(await session.remove(queue, spec.id)).to.equal(true);
    expect(await everything()).to.deep.equal([]);
  });

  it('deletes the key together with an evicted entry, whose holder is notified', async () => {
    const session = await open();
    const spec = newSpec(queue);
    const placement = await session.enqueue(spec);
    const turns = clients.follow(placement);
    const backend = clients.backend({ hosts: own.server.endpoint, singleKey: ownName });
    expect(await backend.evict?.(queue, placement)).to.equal(true);
    expect(await everything()).to.deep.equal([]);
    expect(await turns.untilLost()).to.include({ code: 'ENTRY_LOST' });
    expect(await session.remove(queue, spec.id)).to.equal(false);
  });

  it('keeps the single key when a client without the option singleKey evicts the holder', async () => {
    const session = await open();
    const spec = newSpec(queue);
    const placement = await session.enqueue(spec);
    const turns = clients.follow(placement);
    const stranger = clients.backend({ hosts: own.server.endpoint });
    expect(await stranger.evict?.(queue, placement)).to.equal(true);
    const theirs = await old.tryLock(queue);
    safely(() => expect(theirs).to.equal(undefined));
    expect(await turns.untilLost()).to.include({ code: 'ENTRY_LOST' });
    expect(await session.remove(queue, spec.id)).to.equal(false);
    expect(await everything()).to.deep.equal([]);
  });

  it('ends the hold when another client deletes the key', async () => {
    const session = await open();
    const spec = newSpec(queue);
    const turns = clients.follow(await session.enqueue(spec));
    await own.operator.remove(queue);
    const held = await old.tryLock(queue);
    const failure = await turns.untilLost();
    expect(failure).to.include({ code: 'ENTRY_LOST' });
    expect(String(failure)).to.match(/removed the single key/);
    expect(await session.remove(queue, spec.id)).to.equal(true);
    expect(await everything(), 'theirs stays').to.deep.equal([queue]);
    await held?.release();
  });

  it("keeps the next holder's single key when the removal of the previous entry is repeated", async () => {
    const session = await open();
    const [first, second] = [newSpec(queue), newSpec(queue)];
    await session.enqueue(first);
    const next = clients.follow(await session.enqueue(second));
    expect(await session.remove(queue, first.id)).to.equal(true);
    await next.untilAdmitted();
    expect(await session.remove(queue, first.id)).to.equal(false);
    expect(await everything()).to.have.length(2);
  });

  it('contains neither the entry nor the single key of a session after its close', async () => {
    const session = await open();
    await session.enqueue(newSpec(queue));
    await session.close();
    expect(await everything()).to.deep.equal([]);
  });

  it('lets a resumed session keep its hold, and delete the key at the release', async () => {
    const session = await open();
    const [first, second] = [newSpec(queue), newSpec(`${queue}-2`)];
    await session.enqueue(first);
    await session.enqueue(second);
    await session.share?.(second.queue, second.id, '');
    await session.abandon?.();
    const successor = clients.backend({ hosts: own.server.endpoint, singleKey: ownName });
    const resumed = await successor.resume!(session.resumption!, neverAborted);
    const again = await resumed.enqueue(first);
    expect(again.turn).to.include({ admitted: true, ahead: 0 });
    expect((await resumed.enqueue({ ...second, shared: true })).turn.admitted).to.equal(true);
    expect(await resumed.remove(queue, first.id)).to.equal(true);
    expect(await resumed.remove(second.queue, second.id)).to.equal(true);
    expect(await everything()).to.deep.equal([]);
    expect(await failureOf(resumed.enqueue(newSpec(queue, { shared: true })))).to.include({
      code: 'INVALID_ARGUMENT',
    });
    expect(await everything()).to.deep.equal([]);
    await resumed.close();
  });

  it('loses entry and key when a resumed session removes the entry of the earlier process', async () => {
    const session = await open();
    const spec = newSpec(queue);
    await session.enqueue(spec);
    await session.abandon?.();
    const successor = clients.backend({ hosts: own.server.endpoint, singleKey: ownName });
    const resumed = await successor.resume!(session.resumption!, neverAborted);
    expect(await resumed.remove(queue, spec.id)).to.equal(true);
    expect(await everything()).to.deep.equal([]);
    await resumed.close();
  });

  it('becomes a queue without a single key if the function singleKey returns undefined', async () => {
    const session = await open({ singleKey: () => undefined });
    await old.tryLock(queue);
    expect((await session.enqueue(newSpec(queue, { shared: true }))).turn.admitted).to.equal(true);
  });

  for (const [about, key] of [
    ['an empty key', ''],
    ['half a character', '\udc00'],
    ['a number', 7],
    ['a key in the queue itself', 'team/jobs/key'],
    ['a key where queuelock keeps its own', 'team/.queuelock/key'],
  ] as const) {
    it(`is refused, before any request, if the function singleKey returns ${about}`, () => {
      const backend = clients.backend({
        hosts: '127.0.0.1:1',
        prefix: 'team/',
        singleKey: () => key as string,
      });
      expect(() => {
        backend.checkName('jobs');
      })
        .to.throw(/singleKey\("jobs"\)/)
        .with.property('code', 'INVALID_ARGUMENT');
    });
  }

  it('is refused when the option singleKey is not a function', () => {
    expect(() => etcd({ singleKey: 'jobs' as unknown as () => string }))
      .to.throw(/singleKey is a function/)
      .with.property('code', 'INVALID_ARGUMENT');
  });
});
