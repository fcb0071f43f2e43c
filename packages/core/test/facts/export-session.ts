import { expect } from 'chai';
import type { Backend } from '../../src/backend.ts';
import { QueueLockError } from '../../src/index.ts';
import { Gate, join, losingReplies, ownershipOf, rejection, type CoreFact, type Stage } from '../stage.ts';

const ID = '0123456789abcdef'.repeat(2);

/** A client acquires `x` and abandons its session. Returns the exported session and the id of the entry. */
async function abandoned(stage: Stage): Promise<{ readonly resume: string; readonly id: string }> {
  const client = stage.client();
  const { id } = await client.acquire('x');
  const resume = await client.exportSession();
  await stage.passing(client.abandon());
  expect(stage.server.entryCount).to.equal(1);
  return { resume, id };
}

/** Wraps a backend. Replaces the method `removeUnclaimed` of each session that the backend resumes. */
function withRemovals(backend: Backend, removeUnclaimed: () => Promise<void>): Backend {
  return {
    ...backend,
    resume: async (resumption, signal) =>
      Object.assign(await backend.resume!(resumption, signal), { removeUnclaimed }),
  };
}

export const resumptionFacts: readonly CoreFact[] = [
  {
    title:
      'an entry of a resumed session that is not claimed within the TTL is removed, and a claimed one stays',
    async check(stage) {
      const before = stage.client();
      const [claimed, left] = [await before.acquire('x'), await before.acquire('y')];
      const resume = await before.exportSession();
      await stage.passing(before.abandon());
      const others = [await join(stage, stage.client()), await join(stage, stage.client(), { name: 'y' })];
      const after = stage.client({ resume });
      const again = await stage.passing(after.acquire('x', { id: claimed.id }));
      await stage.clock.advance(9_000);
      expect(others.map(({ last }) => last.status)).to.deep.equal(['queued', 'queued']);
      await stage.clock.advance(2_000);
      expect(others.map(({ last }) => last.status)).to.deep.equal(['queued', 'held']);
      expect([again.held, left.held]).to.deep.equal([true, false]);
      await stage.passing(again.release());
      for (const { subscription } of others) subscription.unsubscribe();
    },
  },
  {
    title: 'a resumed session ends when the store refuses to remove its unclaimed entries',
    async check(stage) {
      const { resume, id } = await abandoned(stage);
      const refusal = new QueueLockError('ACCESS_DENIED', 'may not delete');
      const after = stage.client({
        resume,
        spoil: (backend) => withRemovals(backend, async () => Promise.reject(refusal)),
      });
      const again = await stage.passing(after.acquire('x', { id }));
      await stage.clock.advance(11_000);
      expect(again.held).to.equal(false);
      expect(again.signal.reason).to.have.nested.property('cause.cause', refusal);
    },
  },
  {
    title:
      'a resumed session holds the same entry with the same token, and the abandoned client has lost the hold',
    async check(stage) {
      const before = stage.client();
      const own = await before.acquire('x');
      const resume = await before.exportSession();
      const behind = await join(stage, stage.client());
      await stage.passing(before.abandon());
      expect(own.signal.reason).to.include({ code: 'OWNERSHIP_LOST', reason: 'client-closed' });
      const after = stage.client({ resume });
      const again = await stage.passing(after.acquire('x', { id: own.id, timeoutMs: 1_000 }));
      expect(again).to.include({ id: own.id, token: own.token, key: own.key, held: true });
      expect(behind.last.status).to.equal('queued');
      await stage.passing(again.release());
      await stage.settle();
      expect(behind.last.status).to.equal('held');
      behind.subscription.unsubscribe();
    },
  },
  {
    title:
      'resuming a session that has ended opens a new session, and the claim joins at the end of the queue',
    async check(stage) {
      const closed = stage.client();
      const own = await closed.acquire('x');
      const resume = await closed.exportSession();
      await stage.passing(closed.close());
      const holder = await stage.client().acquire('x');
      const client = stage.client({ resume });
      const claim = await join(stage, client, { id: own.id });
      expect(claim.last).to.include({ status: 'queued', id: own.id });
      claim.subscription.unsubscribe();
      await stage.passing(holder.release());
      const expired = await abandoned(stage);
      await stage.clock.advance(20_000);
      expect(stage.server.entryCount).to.equal(0);
      const after = await stage.client({ resume: expired.resume }).acquire('x', { id: expired.id });
      expect(after.token > own.token).to.equal(true);
      await stage.passing(after.release());
    },
  },
  {
    title: 'a session can be resumed for one TTL after its process crashed',
    async check(stage) {
      const dead = new Gate('open', 'renew', 'remove', 'close');
      let crashed = false;
      const client = stage.client({
        link: { intercept: (call, proceed) => (crashed ? dead.requests(call, proceed) : proceed()) },
      });
      const own = await client.acquire('x');
      const resume = await client.exportSession();
      crashed = true;
      await stage.clock.advance(9_000);
      const after = stage.client({ resume });
      const again = await after.acquire('x', { id: own.id });
      expect(again.token).to.equal(own.token);
      await stage.clock.advance(60_000);
      expect([again.held, own.held]).to.deep.equal([true, false]);
      await stage.passing(again.release());
      dead.open();
    },
  },
  {
    title:
      'a claim with another mode or other permits than the resumed entry is refused, and the entry stays',
    async check(stage) {
      const client = stage.client();
      const lock = await client.acquire('x');
      const slot = await client.acquire('slots', { limit: 3 });
      await stage.passing(lock.downgrade());
      const resume = await client.exportSession();
      await stage.passing(client.abandon());
      const after = stage.client({ resume, link: { intercept: losingReplies(['enqueue'], 3) } });
      const wrong = [
        () => after.acquire('slots', { id: slot.id, limit: 3, permits: 3 }),
        () => after.acquire('y', { id: lock.id, mode: 'shared' }),
        () => after.acquire('x', { id: lock.id }),
      ];
      let error: unknown;
      for (const attempt of wrong) {
        error = await rejection(stage.passing(attempt()));
        expect(error).to.include({ code: 'INVALID_ARGUMENT' });
      }
      expect(String(error)).to.include(lock.id).and.include('shared').and.include('exclusive');
      const again = await stage.passing(after.acquire('x', { id: lock.id, mode: 'shared' }));
      expect(again).to.include({ token: lock.token, shared: true, held: true });
      expect(stage.server.entryCount).to.equal(2);
    },
  },
  {
    title: 'a resumed waiter with another limit is refused, and the holder ahead keeps its hold',
    async check(stage) {
      const holder = await stage.client().acquire('x');
      const before = stage.client();
      const waiter = await join(stage, before, { id: ID });
      expect(waiter.last.status).to.equal('queued');
      const resume = await before.exportSession();
      await stage.passing(before.abandon());
      const after = stage.client({ resume });
      const refused = await rejection(stage.passing(after.acquire('x', { id: ID, limit: 3 })));
      expect(refused).to.include({ code: 'LIMIT_MISMATCH' });
      expect([holder.held, stage.server.entryCount]).to.deep.equal([true, 1]);
      await stage.passing(holder.release());
    },
  },
  {
    title:
      'an entry id can be claimed only once at a time: a second claim of the same client is refused until the first has left',
    async check(stage) {
      const client = stage.client();
      const own = await client.acquire('x', { id: ID });
      for (const name of ['x', 'y']) {
        const claim = await join(stage, client, { name, id: ID });
        expect(claim.last).to.have.nested.property('error.code', 'INVALID_ARGUMENT');
        expect(claim.last).to.have.nested.property('error.message').that.includes(ID);
      }
      expect([own.held, stage.server.entryCount]).to.deep.equal([true, 1]);
      await stage.passing(own.release());
      const next = await client.acquire('y', { id: ID });
      await stage.passing(next.release());
    },
  },
  {
    title: 'when the reply to the resumption is lost, the client retries and gets the same session',
    async check(stage) {
      const { resume, id } = await abandoned(stage);
      const client = stage.client({ resume, link: { intercept: losingReplies(['resume', 'enqueue'], 2) } });
      const own = await stage.passing(client.acquire('x', { id }));
      expect([own.held, stage.server.entryCount, stage.server.sessionIds.length]).to.deep.equal([true, 1, 1]);
      await stage.passing(own.release());
    },
  },
  {
    title: 'a claim with an id that is unknown in the resumed session creates a new entry with that id',
    async check(stage) {
      const { resume } = await abandoned(stage);
      const client = stage.client({ resume });
      const claim = await join(stage, client, { id: ID });
      expect(claim.last).to.include({ status: 'queued', id: ID });
      claim.subscription.unsubscribe();
      await stage.settle();
      // Closing the client also removes the entries that the resumed session has not claimed.
      expect(stage.server.entryCount).to.equal(1);
      await stage.passing(client.close());
      expect(stage.server.entryCount).to.equal(0);
    },
  },
  {
    title: 'a resumed entry that was removed before its claim is created again at the end of the queue',
    async check(stage) {
      const { resume, id } = await abandoned(stage);
      stage.server.evict(stage.server.queues().get('x')![0]!.key);
      const holder = await stage.client().acquire('x');
      const claim = await join(stage, stage.client({ resume }), { id });
      expect(claim.last.status).to.equal('queued');
      await stage.passing(holder.release());
      await stage.settle();
      expect(ownershipOf(claim).token > holder.token).to.equal(true);
      claim.subscription.unsubscribe();
    },
  },
  {
    title:
      'a client rejects every call when the text of the session that it resumes is invalid, or when its backend cannot resume a session',
    async check(stage) {
      const client = stage.client({ resume: 'no ticket' });
      for (const attempt of [1, 2])
        expect(await rejection(stage.passing(client.acquire('x'))), String(attempt)).to.include({
          code: 'INVALID_ARGUMENT',
        });
      const without = (backend: Backend): Backend => Object.assign(backend, { resume: undefined });
      const unable = stage.client({ resume: 'session-1', spoil: without });
      const error = await rejection(stage.passing(unable.acquire('x')));
      expect(String(error)).to.include('resume').and.to.include('memory');
    },
  },
  {
    title:
      'a client that is abandoned while it joins, waits or releases rejects at once and leaves its entry to the TTL',
    async check(stage) {
      for (const call of ['enqueue', 'remove'] as const) {
        const [free, taken] = [`free at ${call}`, `taken at ${call}`];
        const holder = await stage.client().acquire(taken);
        const gate = new Gate(call);
        const client = stage.client({ link: { intercept: gate.requests } });
        const own = call === 'remove' ? await client.acquire(free) : undefined;
        const pending = own ? own.release() : rejection(client.acquire(free));
        const waiting = rejection(client.acquire(taken));
        await stage.settle();
        const removed = client.abandon();
        await stage.settle();
        gate.open();
        await stage.passing(removed);
        await stage.passing(pending);
        expect(await stage.passing(waiting)).to.include({ code: 'CLOSED' });
        expect(await rejection(client.acquire(free))).to.include({ code: 'CLOSED' });
        await stage.passing(holder.release());
      }
      await stage.clock.advance(20_000);
      expect(stage.server.entryCount).to.equal(0);
    },
  },
  {
    title: 'a client that is closed while it resumes a session leaves no session on the server',
    async check(stage) {
      const { resume, id } = await abandoned(stage);
      const gate = new Gate('resume');
      const client = stage.client({ resume, link: { intercept: gate.replies } });
      const acquired = rejection(client.acquire('x', { id }));
      await stage.settle();
      const closing = client.close();
      await stage.settle();
      gate.open();
      await stage.passing(closing);
      expect(await acquired).to.include({ code: 'CLOSED' });
      expect([stage.server.entryCount, stage.server.sessionIds.length]).to.deep.equal([0, 0]);
    },
  },
];
