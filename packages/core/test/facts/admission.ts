import { expect } from 'chai';
import { NEVER, concat, of, throwError, type Observable } from 'rxjs';
import { QueueLockError, type StoredEntry } from '../../src/backend.ts';
import { Gate, join, ownershipOf, type CoreFact } from '../stage.ts';

export const admissionFacts: readonly CoreFact[] = [
  {
    title: 'a claim that is refused with QUEUE_FULL has left the queue, and the entries behind it stay',
    async check(stage) {
      const holder = await join(stage, stage.client());
      const waiter = await join(stage, stage.client(), { maxWaiters: 1 });
      const refused = await join(stage, stage.client(), { maxWaiters: 1 });
      const behind = await join(stage, stage.client(), { maxWaiters: 2 });
      expect(refused.last).to.have.nested.property('error.code', 'QUEUE_FULL');
      expect(
        String(refused.last.status === 'ended' && refused.last.outcome === 'failed' && refused.last.error),
      )
        .to.include('"x"')
        .and.to.include('maxWaiters is 1');
      expect([waiter.last.status, behind.last.status, stage.server.entryCount]).to.deep.equal([
        'queued',
        'queued',
        3,
      ]);
      for (const { subscription } of [holder, waiter, behind]) subscription.unsubscribe();
    },
  },
  {
    title: 'a client with maxWaiters stops reading the queue once its claim holds the lock or may wait',
    async check(stage) {
      const holder = await join(stage, stage.client(), { maxWaiters: 1, maxExpectedWaitMs: 10 });
      const withHolder = stage.server.watcherCount;
      const waiter = await join(stage, stage.client(), { maxWaiters: 1 });
      expect([withHolder, stage.server.watcherCount]).to.deep.equal([1, 2]);
      for (const { subscription } of [holder, waiter]) subscription.unsubscribe();
    },
  },
  {
    title:
      'a claim with maxWaiters, maxExpectedWaitMs or steal rejects when the store refuses to let the client read the queue',
    async check(stage) {
      const holder = await join(stage, stage.client());
      const refused$ = throwError(() => new QueueLockError('ACCESS_DENIED', 'no right to read'));
      const blind = stage.client({ spoil: (backend) => ({ ...backend, observe: () => refused$ }) });
      const specs = [
        { maxWaiters: 5 },
        { maxExpectedWaitMs: 60_000 },
        { steal: { reason: 'a test' } },
      ] as const;
      for (const spec of specs) {
        const claim = await join(stage, blind, spec);
        expect(claim.last).to.have.nested.property('error.code', 'ACCESS_DENIED');
        expect(claim.last)
          .to.have.nested.property('error.message')
          .that.includes(Object.keys(spec)[0])
          .and.includes('no right to read');
        expect(stage.server.entryCount).to.equal(1);
      }
      holder.subscription.unsubscribe();
    },
  },
  {
    title:
      'a claim whose caller sets the value of its entry is also refused when its expected wait exceeds maxExpectedWaitMs',
    async check(stage) {
      const client = stage.client();
      const past = await client.acquire('x');
      await stage.clock.advance(5_000);
      await stage.passing(past.release());
      const holder = await join(stage, client);
      const claim = await join(stage, stage.client(), { maxExpectedWaitMs: 100, value: 'of its own' });
      expect(claim.last).to.have.nested.property('error.code', 'WAIT_TOO_LONG');
      holder.subscription.unsubscribe();
    },
  },
  {
    title:
      'a claim that is admitted before the client has read the queue is accepted, however long the queue was',
    async check(stage) {
      const holder = await join(stage, stage.client());
      const other = await join(stage, stage.client());
      const blind = stage.client({ spoil: (backend) => ({ ...backend, observe: () => NEVER }) });
      const claim = await join(stage, blind, { maxWaiters: 1 });
      expect(claim.last.status).to.equal('queued');
      for (const { subscription } of [holder, other]) subscription.unsubscribe();
      await stage.settle();
      expect(ownershipOf(claim).held).to.equal(true);
      claim.subscription.unsubscribe();
    },
  },
  {
    title: 'a claim ignores a snapshot that contains only an earlier entry with the same key',
    async check(stage) {
      const line = [await join(stage, stage.client()), await join(stage, stage.client())];
      const asItWas$ = (queue: string): Observable<readonly StoredEntry[]> => {
        const { key } = stage.server.queues().get(queue)!.at(-1)!;
        return of([{ key, order: 0n, shared: false, value: '' }]);
      };
      const late = stage.client({
        spoil: (backend) => ({
          ...backend,
          observe: (queue) => concat(asItWas$(queue), backend.observe(queue)),
        }),
      });
      const claim = await join(stage, late, { maxWaiters: 1 });
      expect(claim.last).to.have.nested.property('error.code', 'QUEUE_FULL');
      for (const { subscription } of line) subscription.unsubscribe();
    },
  },
  {
    title: 'a claim whose queue is too long and whose session ends at the same time rejects exactly once',
    async check(stage) {
      const holder = await join(stage, stage.client());
      const waiter = await join(stage, stage.client());
      const gate = new Gate('remove');
      const client = stage.client({ link: { intercept: gate.requests } });
      const claim = await join(stage, client, { maxWaiters: 1 });
      expect(gate.held).to.equal(1);
      const [, , own] = stage.server.queues().get('x')!;
      stage.server.expireSession(own!.sessionId);
      gate.open();
      await stage.settle();
      expect(claim.statuses.filter((status) => status === 'ended')).to.have.length(1);
      for (const { subscription } of [holder, waiter]) subscription.unsubscribe();
    },
  },
  {
    title:
      'maxExpectedWaitMs refuses only claims that would wait longer, and the error contains the expected wait',
    async check(stage) {
      const slow = stage.client();
      const own = await slow.acquire('x');
      await stage.clock.advance(400);
      await stage.passing(own.release());
      const holder = await slow.acquire('x');
      const hasty = await join(stage, stage.client(), { maxExpectedWaitMs: 399 });
      const neverAborted = await join(stage, stage.client(), { maxExpectedWaitMs: 400 });
      expect(neverAborted.last.status).to.equal('queued');
      expect(
        String(hasty.last.status === 'ended' && hasty.last.outcome === 'failed' && hasty.last.error),
      ).to.match(/WAIT_TOO_LONG.*"x".* 400 ms is expected.*maxExpectedWaitMs is 399/);
      neverAborted.subscription.unsubscribe();
      await stage.passing(holder.release());
    },
  },
];
