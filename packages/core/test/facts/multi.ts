import type { MemoryCall } from '@queuelock/memory';
import { expect } from 'chai';
import type { LockClient } from '../../src/index.ts';
import {
  Gate,
  follow,
  join,
  losingReplies,
  ownershipOf,
  rejection,
  type CoreFact,
  type Stage,
} from '../stage.ts';

const NAMES = ['x', 'y', 'z'] as const;

/**
 * Removes the entry that has `position` entries ahead of it. Leaves no record of the eviction, like an
 * operator who deletes the key by hand.
 */
function remove(stage: Stage, queue: string, position = 0): void {
  stage.server.evict(stage.server.queues().get(queue)![position]!.key);
}

/** Steals the lock: evicts the first entry of the queue, and leaves a record of the eviction. */
async function overtake(stage: Stage, by: LockClient, queue: string): Promise<void> {
  await join(stage, by, { name: queue, steal: { reason: 'in a hurry' } });
}

export const multiFacts: readonly CoreFact[] = [
  {
    title:
      'a multi-lock is never held when the entry of its first name is removed before its last name is admitted',
    async check(stage) {
      const story = new Gate('readRegister');
      const other = stage.client();
      const holder = await other.acquire('y');
      const claim = follow(
        stage
          .client({ link: { intercept: story.replies } })
          .multi(['x', 'y'])
          .claim(),
      );
      await stage.settle();
      remove(stage, 'x');
      await stage.settle();
      expect(story.held, 'the story of the loss is being read').to.equal(1);
      await stage.passing(holder.release());
      expect(claim.statuses).to.not.include('held');
      story.open();
      await stage.settle();
      expect(claim.last).to.include({ status: 'ended', outcome: 'failed' });
      expect(claim.last).to.have.nested.property('error.code', 'ENTRY_LOST');
      expect(stage.server.entryCount).to.equal(0);
    },
  },
  {
    title: 'a run of several names aborts its signal and rejects when its first name is lost during the work',
    async check(stage) {
      const client = stage.client();
      let noticed = false;
      const run = client.multi(['x', 'y']).run(async (own) => {
        remove(stage, 'x');
        await stage.settle();
        noticed = own.signal.aborted && !own.of('x').held;
      });
      expect(await rejection(stage.passing(run))).to.include({
        code: 'OWNERSHIP_LOST',
        reason: 'entry-removed',
      });
      expect(noticed).to.equal(true);
    },
  },
  {
    title: 'the loss of one name of a multi-lock releases its other names',
    async check(stage) {
      const own = await stage.client().multi(NAMES).acquire();
      const next = await Promise.all(['y', 'z'].map((name) => join(stage, stage.client(), { name })));
      remove(stage, 'x');
      await stage.settle();
      expect([own.held, own.signal.aborted, own.remainingMs]).to.deep.equal([false, true, 0]);
      expect(next.map(({ last }) => last.status)).to.deep.equal(['held', 'held']);
      for (const { subscription } of next) subscription.unsubscribe();
      await stage.passing(own.release());
    },
  },
  {
    title: 'the release of one name of a multi-lock releases all its names without a loss',
    async check(stage) {
      const claim = follow(stage.client().multi(NAMES).claim());
      await stage.settle();
      const { last } = claim;
      if (last.status !== 'held') return expect.fail(last.status);
      await stage.passing(last.ownership.of('y').release());
      await stage.settle();
      expect(claim.last).to.deep.include({ status: 'ended', outcome: 'released' });
      expect([last.ownership.held, last.ownership.signal.aborted]).to.deep.equal([false, false]);
      expect(stage.server.entryCount).to.equal(0);
    },
  },
  {
    title:
      'a multi-lock that is cancelled between two attempts to join leaves no entries, and its client can close',
    async check(stage) {
      const outcomes = new Set<string>();
      for (let afterMs = 0; afterMs <= 400; afterMs += 10) {
        const client = stage.client({ link: { intercept: losingReplies(['enqueueAll'], 2) } });
        const abort = new AbortController();
        const claim = follow(client.multi(NAMES).claim({ signal: abort.signal }));
        await stage.clock.advance(afterMs);
        abort.abort(new Error('enough'));
        outcomes.add(claim.last.status);
        claim.subscription.unsubscribe();
        await stage.passing(client.close());
        expect(stage.server.entryCount, `after ${afterMs} ms`).to.equal(0);
      }
      expect([...outcomes]).to.have.members(['ended', 'held']);
    },
  },
  ...(['enqueueAll', 'remove', 'renew'] as const).map((call: MemoryCall): CoreFact => ({
    title: `a multi-lock is granted, kept and released as usual when replies to ${call} are lost`,
    async check(stage) {
      const client = stage.client({ link: { intercept: losingReplies([call], 3) } });
      const own = await stage.passing(client.multi(NAMES).acquire());
      expect([own.held, stage.server.entryCount]).to.deep.equal([true, NAMES.length]);
      await stage.clock.advance(6_000);
      expect(own.held).to.equal(true);
      await stage.passing(own.release());
      expect(stage.server.entryCount).to.equal(0);
    },
  })),
  {
    title: 'tryAcquire of several names makes only one attempt, and leaves no entries when the reply is lost',
    async check(stage) {
      const client = stage.client({ link: { intercept: losingReplies(['enqueueAll']) } });
      expect(await rejection(stage.passing(client.multi(NAMES).tryAcquire()))).to.have.property(
        'message',
        'the answer to enqueueAll is lost',
      );
      await stage.until('nothing is left', () => stage.server.entryCount === 0);
      const own = await stage.passing(client.multi(NAMES).tryAcquire());
      expect(own?.held).to.equal(true);
      expect(await stage.passing(client.multi(NAMES).tryAcquire())).to.equal(undefined);
      await stage.passing(own!.release());
    },
  },
  {
    title: 'a multi-lock joins all its queues again when the lock of one queue is stolen while it waits',
    async check(stage) {
      const [client, stealer] = [stage.client(), stage.client()];
      const holder = await stage.client().acquire('y');
      const claim = follow(client.multi(['x', 'y']).claim());
      const behind = await join(stage, stage.client(), { name: 'x' });
      await overtake(stage, stealer, 'y');
      await stage.settle();
      expect(holder.held, 'stolen').to.equal(false);
      expect(behind.last.status, 'the other queue goes on meanwhile').to.equal('held');
      expect(claim.last).to.deep.equal({ status: 'queued', waitingFor: ['x', 'y'] });
      await stage.passing(ownershipOf(behind).release());
      await stage.passing(stealer.close());
      await stage.settle();
      expect(claim.last.status).to.equal('held');
      claim.subscription.unsubscribe();
      await stage.passing(holder.release());
    },
  },
  {
    title:
      'a multi-lock joins again, with one entry a queue, when an entry is removed before the reply to the first attempt',
    async check(stage) {
      const holder = await stage.client().acquire('y');
      const client = stage.client({ link: { intercept: losingReplies(['enqueueAll']) } });
      const claim = follow(client.multi(['x', 'y']).claim());
      await stage.settle();
      remove(stage, 'y', 1);
      await stage.until('it waits', () => claim.last.status === 'queued');
      expect(claim.last).to.deep.equal({ status: 'queued', waitingFor: ['y'] });
      expect(stage.server.entryCount).to.equal(3);
      await stage.passing(holder.release());
      await stage.settle();
      expect(claim.last.status).to.equal('held');
      claim.subscription.unsubscribe();
    },
  },
  {
    title: 'a multi-lock joins a third time when one of its locks is stolen twice during the wait',
    async check(stage) {
      const holder = await stage.client().acquire('y');
      const claim = follow(stage.client().multi(['x', 'y']).claim());
      await stage.settle();
      const first = await join(stage, stage.client(), { name: 'y', steal: { reason: 'in a hurry' } });
      const second = await join(stage, stage.client(), { name: 'y', steal: { reason: 'even more so' } });
      expect([holder.held, first.last.status, second.last.status]).to.deep.equal([false, 'ended', 'held']);
      second.subscription.unsubscribe();
      await stage.settle();
      expect(claim.statuses).to.deep.equal([
        'joining',
        'queued',
        'joining',
        'queued',
        'joining',
        'queued',
        'held',
      ]);
      claim.subscription.unsubscribe();
      await stage.passing(holder.release());
    },
  },
  {
    title:
      'a multi-lock joins all its queues in a new session when its session ends before its entries exist',
    async check(stage) {
      const gate = new Gate('enqueueAll');
      const client = stage.client({ link: { intercept: gate.requests } });
      const acquired = client.multi(NAMES).acquire();
      await stage.settle();
      expect(gate.held).to.equal(1);
      stage.server.expireSession(stage.server.sessionIds[0]!);
      gate.open();
      const own = await stage.passing(acquired);
      expect(own.held).to.equal(true);
      const sessions = [...stage.server.queues().values()].flat().map(({ sessionId }) => sessionId);
      expect(new Set(sessions).size).to.equal(1);
      await stage.passing(own.release());
    },
  },
  {
    title: 'a multi-lock that waits ends only once, with SESSION_LOST, when its session ends',
    async check(stage) {
      const holder = await stage.client().acquire('z');
      const client = stage.client();
      const claim = follow(client.multi(NAMES).claim());
      await stage.settle();
      stage.server.expireSession(stage.server.queues().get('x')![0]!.sessionId);
      await stage.settle();
      expect(claim.statuses).to.deep.equal(['joining', 'queued', 'ended']);
      expect(claim.last).to.include({ outcome: 'failed' });
      expect(stage.server.entryCount).to.equal(1);
      await stage.passing(holder.release());
    },
  },
  {
    title: 'a multi-lock ends immediately when its client closes, whether it waits or holds',
    async check(stage) {
      const holder = await stage.client().acquire('y');
      const [waiting, holding] = [stage.client(), stage.client()];
      const wait = rejection(waiting.multi(['x', 'y']).acquire());
      const own = await holding.multi(['a', 'b']).acquire();
      await stage.settle();
      await stage.passing(Promise.all([waiting.close(), holding.close()]));
      expect(await wait).to.include({ code: 'CLOSED' });
      expect(own.signal.reason).to.include({ code: 'OWNERSHIP_LOST', reason: 'client-closed' });
      expect(stage.server.entryCount).to.equal(1);
      await stage.passing(holder.release());
    },
  },
  {
    title:
      'a multi-lock is rejected, and leaves no entries, on a store that cannot enter several queues in one step',
    async check(stage) {
      const client = stage.client({
        spoil: (backend) => ({
          ...backend,
          open: async (ttlMs, signal) =>
            Object.defineProperty(await backend.open(ttlMs, signal), 'enqueueAll', { value: undefined }),
        }),
      });
      const error = await rejection(stage.passing(client.multi(['x', 'y']).acquire()));
      expect(error).to.include({ code: 'INVALID_ARGUMENT' });
      expect(String(error)).to.include('names').and.to.include('got 2');
    },
  },
];
