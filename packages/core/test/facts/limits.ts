import { expect } from 'chai';
import { BehaviorSubject, EMPTY, NEVER, Subject, concat, of, throwError } from 'rxjs';
import type { Session } from '../../src/backend.ts';
import type { ClaimState } from '../../src/index.ts';
import {
  Gate,
  join,
  losingReplies,
  ownershipOf,
  type CoreFact,
  type Followed,
  type Stage,
} from '../stage.ts';

function limitsOf(stage: Stage): readonly number[] {
  return (stage.server.queues().get('x') ?? []).map(({ limit }) => limit);
}

export const limitFacts: readonly CoreFact[] = [
  {
    title: 'a growing limit admits waiters in order, and a shrinking limit revokes no hold',
    async check(stage) {
      const limit$ = new BehaviorSubject(1);
      const claims: Followed<ClaimState>[] = [];
      for (let i = 0; i < 5; i += 1) claims.push(await join(stage, stage.client(), { limit: limit$ }));
      const held = (): readonly boolean[] => claims.map(({ last }) => last.status === 'held');
      expect(held()).to.deep.equal([true, false, false, false, false]);
      limit$.next(3);
      await stage.settle();
      expect(held()).to.deep.equal([true, true, true, false, false]);
      limit$.next(1);
      await stage.settle();
      expect(held()).to.deep.equal([true, true, true, false, false]);
      for (const claim of claims.slice(0, 2)) claim.subscription.unsubscribe();
      await stage.settle();
      expect(held().slice(2), 'while one is left that holds').to.deep.equal([true, false, false]);
      claims[2]!.subscription.unsubscribe();
      await stage.settle();
      expect(held().slice(3)).to.deep.equal([true, false]);
      for (const { subscription } of claims.slice(3)) subscription.unsubscribe();
    },
  },
  {
    title:
      'the client unsubscribes from the stream of a limit when the lock is held or the claim was cancelled',
    async check(stage) {
      const limit$ = new BehaviorSubject(1);
      const [holder, waiter] = [
        await join(stage, stage.client(), { limit: limit$ }),
        await join(stage, stage.client(), { limit: limit$ }),
      ];
      waiter.subscription.unsubscribe();
      await stage.settle();
      expect([holder.last.status, limit$.observed]).to.deep.equal(['held', false]);
      holder.subscription.unsubscribe();
    },
  },
  {
    title: 'a limit that shrinks while the grant is in flight does not revoke the grant',
    async check(stage) {
      const limit$ = new BehaviorSubject(2);
      const trace = new Gate('leaveTrace');
      const settings = { lockDelayMs: 100 };
      const holder = await join(stage, stage.client(settings), { limit: limit$ });
      const client = stage.client({ ...settings, link: { intercept: trace.requests } });
      const claim = await join(stage, client, { limit: limit$ });
      expect([trace.held, claim.last.status]).to.deep.equal([1, 'joining']);
      limit$.next(1);
      await stage.settle();
      trace.open();
      await stage.settle();
      expect(claim.last.status).to.equal('held');
      expect(claim.statuses).to.not.include('ended');
      for (const { subscription } of [holder, claim]) subscription.unsubscribe();
    },
  },
  {
    title: 'a change of the limit whose reply arrives after the grant does not revoke the hold',
    async check(stage) {
      const limit$ = new BehaviorSubject(2);
      const [trace, change] = [new Gate('leaveTrace'), new Gate()];
      const settings = { lockDelayMs: 100 };
      const holder = await join(stage, stage.client(settings), { limit: limit$ });
      const client = stage.client({
        ...settings,
        link: { intercept: trace.requests },
        spoil: (backend) => ({
          ...backend,
          open: async (ttlMs, signal) => waitingUnder(1, await backend.open(ttlMs, signal), change),
        }),
      });
      const claim = await join(stage, client, { limit: limit$ });
      limit$.next(1);
      await stage.settle();
      trace.open();
      await stage.settle();
      change.open();
      await stage.settle();
      expect(claim.statuses).to.deep.equal(['joining', 'held']);
      stage.server.evict(ownershipOf(claim).key);
      await stage.settle();
      expect(claim.last).to.include({ status: 'ended', outcome: 'lost' });
      holder.subscription.unsubscribe();
    },
  },
  {
    title: 'a client retries a change of its limit when the reply is lost, and adds no second entry',
    async check(stage) {
      const limit$ = new BehaviorSubject(1);
      const holder = await join(stage, stage.client(), { limit: limit$ });
      const client = stage.client({ link: { intercept: losingReplies(['enqueue'], 3) } });
      const claim = await join(stage, client, { limit: limit$ });
      await stage.until('it is in line', () => claim.last.status === 'queued');
      limit$.next(2);
      await stage.until('it is let in', () => claim.last.status === 'held');
      expect(stage.server.entryCount).to.equal(2);
      for (const { subscription } of [holder, claim]) subscription.unsubscribe();
    },
  },
  {
    title: 'changes of a limit reach the server in order, also over a slow connection',
    async check(stage) {
      const limit$ = new BehaviorSubject(1);
      const holder = await join(stage, stage.client(), { limit: 1 });
      const slow: (() => void)[] = [];
      const client = stage.client({
        link: {
          intercept: async (call, proceed) => {
            if (call === 'enqueue') await new Promise<void>((resolve) => slow.push(resolve));
            return proceed();
          },
        },
      });
      const claim = await join(stage, client, { limit: limit$, permits: 2 });
      slow.shift()?.();
      await stage.settle();
      limit$.next(2);
      await stage.settle();
      limit$.next(1);
      await stage.settle();
      // Lets the newest delayed `enqueue` request reach the server first, if several are in flight.
      while (slow.length > 0) {
        slow.pop()!();
        await stage.settle();
      }
      expect([limitsOf(stage)[1], claim.last.status]).to.deep.equal([1, 'queued']);
      for (const { subscription } of [holder, claim]) subscription.unsubscribe();
    },
  },
  {
    title: 'a claim whose entry is removed during a change of the limit rejects, and does not join again',
    async check(stage) {
      const limit$ = new BehaviorSubject(1);
      const holder = await join(stage, stage.client(), { limit: limit$ });
      let isSlow = false;
      const slow = new Gate('enqueue');
      const client = stage.client({
        link: {
          intercept: (call, proceed) => (isSlow ? slow.requests(call, proceed) : proceed()),
          // Delays notifications to the client by 50 ms, so that the notification of the removed entry
          // arrives after all replies.
          deliver: (arrive) => {
            if (isSlow) stage.clock.after(50, arrive);
            else arrive();
          },
        },
      });
      const claim = await join(stage, client, { limit: limit$ });
      const [, own] = stage.server.queues().get('x')!;
      isSlow = true;
      limit$.next(2);
      await stage.settle();
      expect(slow.held).to.equal(1);
      stage.server.evict(own!.key);
      const conflicting = await join(stage, stage.client(), { limit: limit$ });
      slow.open();
      await stage.settle();
      expect(claim.last).to.include({ status: 'ended', outcome: 'failed' });
      expect(claim.last).to.have.nested.property('error.code', 'ENTRY_LOST');
      expect(conflicting.last.status).to.equal('held');
      expect(stage.server.entryCount).to.equal(2);
      await stage.clock.advance(50);
      for (const { subscription } of [holder, conflicting]) subscription.unsubscribe();
    },
  },
  {
    title: 'a session that ends during a change of the limit ends the wait with SESSION_LOST',
    async check(stage) {
      const limit$ = new BehaviorSubject(1);
      const holder = await join(stage, stage.client(), { limit: limit$ });
      const client = stage.client();
      const claim = await join(stage, client, { limit: limit$ });
      stage.server.expireSession(stage.server.queues().get('x')![1]!.sessionId);
      limit$.next(2);
      await stage.settle();
      expect(claim.last).to.have.nested.property('error.code', 'SESSION_LOST');
      holder.subscription.unsubscribe();
    },
  },
  {
    title:
      'a limit may be a stream that does not repeat its latest value: each value applies until the next one',
    async check(stage) {
      const limit$ = new Subject<number>();
      const claim = await join(stage, stage.client(), { limit: limit$ });
      expect([claim.last.status, stage.server.entryCount]).to.deep.equal(['joining', 0]);
      limit$.next(1);
      await stage.settle();
      expect(claim.last.status).to.equal('held');
      const next = await join(stage, stage.client(), { limit: limit$ });
      limit$.next(1);
      await stage.settle();
      expect(next.last.status).to.equal('queued');
      limit$.next(2);
      await stage.settle();
      expect(next.last.status).to.equal('held');
      for (const { subscription } of [claim, next]) subscription.unsubscribe();
    },
  },
  {
    title: 'a limit that errors or becomes invalid ends the wait with that error, and leaves no entry',
    async check(stage) {
      const holder = await stage.client().acquire('x', { limit: new BehaviorSubject(1) });
      const broken = new Error('no such setting');
      const failing$ = new BehaviorSubject(1);
      const claims = [
        await join(stage, stage.client(), {
          limit: concat(
            of(1),
            throwError(() => broken),
          ),
        }),
        await join(stage, stage.client(), { limit: failing$ }),
        await join(stage, stage.client(), { limit: EMPTY }),
      ];
      failing$.next(0);
      await stage.settle();
      const errors = claims.map(({ last }) =>
        last.status === 'ended' && last.outcome === 'failed' ? last.error : last,
      );
      expect(errors[0]).to.equal(broken);
      expect(String(errors[1])).to.include('limit').and.to.include('1 to 1000000').and.to.include('got 0');
      expect(String(errors[2])).to.include('limit').and.to.include('without a value');
      expect(stage.server.entryCount).to.equal(1);
      await stage.passing(holder.release());
    },
  },
  {
    title:
      'a claim is refused and leaves when its limit differs from the limit of the holder, which keeps its hold',
    async check(stage) {
      const holder = await join(stage, stage.client(), { limit: 2 });
      const other = await join(stage, stage.client(), { limit: 3 });
      expect(other.last).to.have.nested.property('error.code', 'LIMIT_MISMATCH');
      expect(String(other.last.status === 'ended' && other.last.outcome === 'failed' && other.last.error))
        .to.include('a limit of 2')
        .and.to.include('here it is 3');
      expect(stage.server.entryCount).to.equal(1);
      holder.subscription.unsubscribe();
    },
  },
  {
    title: 'a semaphore behind a reader is refused and leaves, but a reader behind a semaphore waits',
    async check(stage) {
      const reader = await join(stage, stage.client(), { mode: 'shared' });
      const others = [
        await join(stage, stage.client(), { limit: 5 }),
        await join(stage, stage.client(), { limit: 5 }),
      ];
      for (const { last } of others) expect(last).to.have.nested.property('error.code', 'LIMIT_MISMATCH');
      expect(stage.server.entryCount).to.equal(1);
      reader.subscription.unsubscribe();
      const holder = await join(stage, stage.client(), { limit: 5 });
      const behind = await join(stage, stage.client(), { mode: 'shared' });
      expect(behind.last.status).to.equal('queued');
      holder.subscription.unsubscribe();
      await stage.settle();
      expect(behind.last.status).to.equal('held');
      behind.subscription.unsubscribe();
    },
  },
  {
    title:
      'while clients still have different limits, an entry with the higher limit may be admitted before an entry ahead',
    async check(stage) {
      const [late$, new$] = [new BehaviorSubject(1), new BehaviorSubject(3)];
      const holder = await join(stage, stage.client(), { limit: late$ });
      const ahead = await join(stage, stage.client(), { limit: late$ });
      const behind = await join(stage, stage.client(), { limit: new$ });
      expect([ahead.last.status, behind.last.status]).to.deep.equal(['queued', 'held']);
      late$.next(3);
      await stage.settle();
      expect(ownershipOf(ahead).token < ownershipOf(behind).token).to.equal(true);
      for (const { subscription } of [holder, ahead, behind]) subscription.unsubscribe();
    },
  },
  {
    title:
      'a claim waits for the first value of its limit, and leaves no entry when it is cancelled meanwhile',
    async check(stage) {
      const claim = await join(stage, stage.client(), { limit: NEVER, timeoutMs: 50 });
      await stage.clock.advance(50);
      expect(claim.last).to.have.nested.property('error.code', 'TIMEOUT');
    },
  },
  {
    title: 'a claim for few permits does not overtake a claim that waits for many',
    async check(stage) {
      const limit = { limit: 3 };
      const holder = await join(stage, stage.client(), { ...limit, permits: 2 });
      const big = await join(stage, stage.client(), { ...limit, permits: 2 });
      const small = await join(stage, stage.client(), limit);
      expect([big.last.status, small.last.status]).to.deep.equal(['queued', 'queued']);
      await stage.passing(ownershipOf(holder).release());
      await stage.settle();
      expect([big.last.status, small.last.status]).to.deep.equal(['held', 'held']);
      for (const { subscription } of [big, small]) subscription.unsubscribe();
    },
  },
];

/**
 * Wraps a session: for entries with the given limit, `enqueue` waits until `gate` opens, and then reports
 * that the entry must wait. A store whose clients decide which entries are admitted may also respond like
 * this.
 */
function waitingUnder(limit: number, session: Session, gate: Gate): Session {
  const enqueue = session.enqueue.bind(session);
  const late: Session['enqueue'] = async (spec) => {
    const placement = await enqueue(spec);
    if (spec.limit !== limit) return placement;
    await gate.pass();
    return { ...placement, turn: { admitted: false }, turns$: NEVER };
  };
  return Object.defineProperty(session, 'enqueue', { value: late });
}
