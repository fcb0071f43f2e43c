import type { Intercept, MemoryCall } from '@queuelock/memory';
import { expect } from 'chai';
import type { Backend } from '../../src/backend.ts';
import type { Eviction, LockClient } from '../../src/index.ts';
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

const STEAL = { steal: { reason: 'in a hurry' } };

/** Returns the eviction records of a queue that the server has stored. */
async function records(stage: Stage, client: LockClient, name = 'x'): Promise<readonly Eviction[]> {
  const seen = await stage.passing(client.register(name, 'evictions').read());
  return seen === undefined ? [] : (JSON.parse(seen) as Eviction[]);
}

function front(stage: Stage, name = 'x'): Parameters<LockClient['evict']>[1] {
  const { key, order, id } = stage.server.queues().get(name)![0]!;
  return { key, order, owner: 'whoever it is', id };
}

export const evictionFacts: readonly CoreFact[] = [
  {
    title: 'the record of an eviction is stored before the evicted client is notified of its loss',
    async check(stage) {
      const [holder, operator] = [stage.client(), stage.client({ owner: 'operator' })];
      const claim = await join(stage, holder);
      const texts: (string | undefined)[] = [];
      ownershipOf(claim).signal.addEventListener('abort', () => {
        void holder
          .register('x', 'evictions')
          .read()
          .then((text) => texts.push(text));
      });
      expect(await stage.passing(operator.evict('x', front(stage), { reason: 'a test' }))).to.equal(true);
      await stage.settle();
      expect(claim.last).to.have.nested.property('error.eviction.by', 'operator');
      expect(texts).to.have.length(1);
      expect(texts[0]).to.include('a test');
    },
  },
  {
    title: 'the record of an eviction is removed when the entry had already left',
    async check(stage) {
      const [holder, operator] = [stage.client(), stage.client()];
      const own = await holder.acquire('x');
      const victim = front(stage);
      await own.release();
      expect(await stage.passing(operator.evict('x', victim, { reason: 'too late' }))).to.equal(false);
      expect([await records(stage, operator), stage.server.registerCount]).to.deep.equal([[], 0]);
    },
  },
  {
    title: 'an eviction whose reply is lost counts as done, and its record stays',
    async check(stage) {
      const claim = await join(stage, stage.client());
      const operator = stage.client({ link: { intercept: losingReplies(['evict']) } });
      const evicted = operator.evict('x', front(stage), { reason: 'a test' });
      expect(await stage.passing(evicted)).to.equal(true);
      expect(await records(stage, operator)).to.have.length(1);
      expect(claim.last).to.have.nested.property('error.eviction.reason', 'a test');
    },
  },
  ...(['readRegister', 'writeRegister'] as const).map((call: MemoryCall): CoreFact => ({
    title: `an eviction writes one record when replies to ${call} are lost`,
    async check(stage) {
      const claim = await join(stage, stage.client());
      const operator = stage.client({ link: { intercept: losingReplies([call], 2) } });
      expect(await stage.passing(operator.evict('x', front(stage), { reason: 'a test' }))).to.equal(true);
      await stage.settle();
      expect(await records(stage, operator)).to.have.length(1);
      expect(claim.last.status).to.equal('ended');
    },
  })),
  {
    title:
      'an entry with an owner label of 10,000 characters is evicted, and the record contains shortened labels',
    async check(stage) {
      const [other, operator] = [stage.client(), stage.client({ owner: 'o'.repeat(5_000) })];
      const own = await other.acquire('x');
      const victim = { ...front(stage), owner: 'ü'.repeat(10_000) };
      expect(await stage.passing(operator.evict('x', victim, { reason: 'r'.repeat(200) }))).to.equal(true);
      expect(own.held).to.equal(false);
      const [record] = await records(stage, operator);
      expect(record)
        .to.have.property('by')
        .that.matches(/^o{100,}…$/);
      expect(record)
        .to.have.nested.property('entry.owner')
        .that.matches(/^ü{100,}…$/);
    },
  },
  {
    title: 'the store keeps the records of the latest evictions, up to the size limit',
    async check(stage) {
      const operator = stage.client({ owner: 'operator' });
      for (let round = 0; round < 40; round += 1) {
        const own = await stage.client().acquire('x');
        await stage.passing(operator.evict('x', front(stage), { reason: `round ${round}` }));
        await stage.passing(own.release());
      }
      const kept = (await records(stage, operator)).map(({ reason }) => reason);
      expect(kept.length).to.be.within(10, 39);
      expect(kept).to.deep.equal(kept.map((_, at) => `round ${40 - kept.length + at}`));
    },
  },
  {
    title: 'a client without the permission to evict writes no record',
    async check(stage) {
      const without = (backend: Backend): Backend => Object.assign(backend, { evict: undefined });
      const operator = stage.client({ spoil: without });
      const own = await stage.client().acquire('x');
      const error = await rejection(stage.passing(operator.evict('x', front(stage), { reason: 'a test' })));
      expect(error).to.include({ code: 'INVALID_ARGUMENT' });
      expect([stage.server.registerCount, own.held]).to.deep.equal([0, true]);
    },
  },
  {
    title:
      'a steal removes entries from the last to the first, so that no waiter is admitted during the steal',
    async check(stage) {
      const holder = await join(stage, stage.client());
      const [first, second] = [await join(stage, stage.client()), await join(stage, stage.client())];
      const stealer = await join(stage, stage.client(), STEAL);
      expect(stealer.last.status).to.equal('held');
      expect([first, second].map(({ statuses }) => statuses.includes('held'))).to.deep.equal([false, false]);
      expect(holder.last).to.have.nested.property('error.eviction.kind', 'stolen');
      stealer.subscription.unsubscribe();
      await stage.settle();
      // The steal evicts the last waiter first. So that waiter joins the queue again first, and holds first.
      expect(second.last.status).to.equal('held');
      second.subscription.unsubscribe();
      await stage.settle();
      expect(first.last.status).to.equal('held');
      first.subscription.unsubscribe();
    },
  },
  {
    title: 'a steal of several entries writes one record',
    async check(stage) {
      const all = [stage.client(), stage.client(), stage.client()];
      const joined = [];
      for (const client of all) joined.push(await join(stage, client));
      const calls: MemoryCall[] = [];
      const intercept: Intercept = (call, proceed) => {
        calls.push(call);
        return proceed();
      };
      const stealer = await join(stage, stage.client({ link: { intercept } }), STEAL);
      expect(stealer.last.status).to.equal('held');
      const counts = ['writeRegister', 'evict'].map((what) => calls.filter((call) => call === what).length);
      expect(counts).to.deep.equal([1, 3]);
      for (const { subscription } of [...joined, stealer]) subscription.unsubscribe();
    },
  },
  {
    title: 'a steal that is cancelled removes no further entries of the queue',
    async check(stage) {
      const holder = await join(stage, stage.client());
      const waiters = [await join(stage, stage.client()), await join(stage, stage.client())];
      const gate = new Gate('evict');
      const stealer = stage.client({ link: { intercept: gate.replies } });
      const theft = await join(stage, stealer, STEAL);
      expect(gate.held).to.equal(1);
      theft.subscription.unsubscribe();
      gate.open();
      await stage.settle();
      expect(holder.last.status).to.equal('held');
      holder.subscription.unsubscribe();
      await stage.settle();
      expect(waiters.map(({ last }) => last.status)).to.deep.equal(['held', 'queued']);
      for (const { subscription } of waiters) subscription.unsubscribe();
    },
  },
  {
    title: 'a steal of all permits removes each holder once',
    async check(stage) {
      const limit = { limit: 3 };
      const holders = [0, 1, 2].map(() => stage.client().acquire('x', limit));
      const holds = await stage.passing(Promise.all(holders));
      const stealer = await join(stage, stage.client(), { ...limit, ...STEAL, permits: 3 });
      expect(stealer.last.status).to.equal('held');
      expect(holds.map(({ held }) => held)).to.deep.equal([false, false, false]);
      for (const hold of holds) await stage.passing(hold.release());
      stealer.subscription.unsubscribe();
    },
  },
  {
    title: 'a steal of one permit removes the holder that joined last, and overtaken waiters join again',
    async check(stage) {
      const limit = { limit: 2 };
      const holds = [await stage.client().acquire('x', limit), await stage.client().acquire('x', limit)];
      const waiter = await join(stage, stage.client(), limit);
      // The stealing client is notified of its admission 50 ms late.
      const deliver = (arrive: () => void): void => void stage.clock.after(50, arrive);
      const stealer = await join(stage, stage.client({ link: { deliver } }), { ...limit, ...STEAL });
      await stage.clock.advance(200);
      expect(stealer.last.status).to.equal('held');
      expect(holds.map(({ held }) => held)).to.deep.equal([true, false]);
      expect(waiter.statuses).to.deep.equal(['joining', 'queued', 'queued']);
      waiter.subscription.unsubscribe();
      stealer.subscription.unsubscribe();
      for (const hold of holds) await stage.passing(hold.release());
    },
  },
  {
    title: 'a waiter that is overtaken twice joins a third time, and its abort signal still ends the wait',
    async check(stage) {
      const holder = await join(stage, stage.client());
      const abort = new AbortController();
      const waiter = await join(stage, stage.client(), { signal: abort.signal });
      const first = await join(stage, stage.client(), STEAL);
      const second = await join(stage, stage.client(), STEAL);
      expect([holder.last.status, first.last.status]).to.deep.equal(['ended', 'ended']);
      const positions = waiter.states.map((state) => (state.status === 'queued' ? state.id : undefined));
      expect(new Set(positions).size, 'places, and none at first').to.equal(4);
      abort.abort(new Error('enough'));
      await stage.settle();
      expect(waiter.last).to.have.nested.property('error.message', 'enough');
      expect(stage.owners('x')).to.have.length(1);
      second.subscription.unsubscribe();
    },
  },
  {
    title: 'a waiter with a caller-defined id that is overtaken joins again as an entry with a new id',
    async check(stage) {
      const holder = await join(stage, stage.client());
      const id = '0123456789abcdef'.repeat(2);
      const gate = new Gate('remove');
      const waiter = await join(stage, stage.client({ link: { intercept: gate.requests } }), { id });
      const stealer = await join(stage, stage.client(), STEAL);
      await stage.settle();
      gate.open();
      await stage.settle();
      expect([holder.last.status, stealer.last.status]).to.deep.equal(['ended', 'held']);
      expect(waiter.statuses).to.deep.equal(['joining', 'queued', 'queued']);
      stealer.subscription.unsubscribe();
      await stage.settle();
      expect(ownershipOf(waiter).id).to.not.equal(id);
      waiter.subscription.unsubscribe();
    },
  },
  {
    title: 'an overtaken waiter joins again although the reply with the eviction record is lost',
    async check(stage) {
      const holder = await join(stage, stage.client());
      const waiter = await join(
        stage,
        stage.client({ link: { intercept: losingReplies(['readRegister'], 2) } }),
      );
      const stealer = await join(stage, stage.client(), STEAL);
      expect([holder.last.status, stealer.last.status]).to.deep.equal(['ended', 'held']);
      await stage.clock.advance(1_000);
      expect(waiter.last.status).to.equal('queued');
      stealer.subscription.unsubscribe();
      await stage.settle();
      expect(waiter.last.status).to.equal('held');
      waiter.subscription.unsubscribe();
    },
  },
  {
    title: 'an unreadable eviction record is ignored, and the next record is kept',
    async check(stage) {
      const [holder, operator] = [await stage.client().acquire('x'), stage.client()];
      for (const text of ['no JSON', '{}', '[null]', '[{"entry":{"order":"x"}}]']) {
        await operator.register('x', 'evictions').change(() => text);
        const waiter = await join(stage, stage.client());
        stage.server.evict(stage.server.queues().get('x')![1]!.key);
        await stage.settle();
        expect(waiter.last).to.include({ status: 'ended', outcome: 'failed' });
        expect(waiter.last).to.have.nested.property('error.code', 'ENTRY_LOST');
      }
      await stage.passing(operator.evict('x', front(stage), { reason: 'a test' }));
      expect(await records(stage, operator)).to.have.length(1);
      await stage.passing(holder.release());
    },
  },
  {
    title: 'the eviction record of an earlier entry with the same key does not apply to a later entry',
    async check(stage) {
      const [holder, operator] = [await stage.client().acquire('x'), stage.client()];
      const waiter = await join(stage, stage.client());
      const { key } = stage.server.queues().get('x')![1]!;
      const entry = { key, order: '0', owner: 'an earlier one' };
      const record = { entry, kind: 'overtaken', by: 'somebody', reason: 'long ago', at: 1 };
      await operator.register('x', 'evictions').change(() => JSON.stringify([record]));
      stage.server.evict(key);
      await stage.settle();
      expect(waiter.last).to.include({ status: 'ended', outcome: 'failed' });
      expect(waiter.last).to.not.have.nested.property('error.eviction.reason');
      await stage.passing(holder.release());
    },
  },
  {
    title: 'a claim whose session ends while its client reads the reason of a loss ends without the reason',
    async check(stage) {
      const gate = new Gate('readRegister');
      const client = stage.client({ link: { intercept: gate.replies } });
      const holder = await stage.client().acquire('x');
      const waiter = await join(stage, client);
      await stage.passing(stage.client().evict('x', inLine(stage, 1), { reason: 'a test' }));
      expect([gate.held, waiter.last.status]).to.deep.equal([1, 'queued']);
      stage.server.expireSession(stage.server.sessionIds[1]!);
      await stage.clock.advance(3_000);
      expect(waiter.last).to.have.nested.property('error.code', 'ENTRY_LOST');
      gate.open();
      await stage.passing(holder.release());
    },
  },
  {
    title: 'a holder that is evicted while it releases ends as released',
    async check(stage) {
      const gate = new Gate('remove');
      const claim = await join(stage, stage.client({ link: { intercept: gate.requests } }));
      const released = ownershipOf(claim).release();
      const stealer = await join(stage, stage.client(), STEAL);
      expect(stealer.last.status).to.equal('held');
      gate.open();
      await stage.passing(released);
      expect(claim.last).to.deep.equal({ status: 'ended', outcome: 'released' });
      expect(claim.statuses).to.not.include('lost');
      stealer.subscription.unsubscribe();
    },
  },
  {
    title: 'a waiter that is overtaken while it is cancelled leaves and does not join again',
    async check(stage) {
      const holder = await stage.client().acquire('x');
      const gate = new Gate('remove');
      const waiter = await join(stage, stage.client({ link: { intercept: gate.requests } }));
      waiter.subscription.unsubscribe();
      const stealer = await join(stage, stage.client(), STEAL);
      gate.open();
      await stage.settle();
      expect([holder.held, stealer.last.status, stage.server.entryCount]).to.deep.equal([false, 'held', 1]);
      stealer.subscription.unsubscribe();
      await stage.passing(holder.release());
    },
  },
  ...(['readRegister', 'writeRegister', 'evict'] as const).map((call: MemoryCall): CoreFact => ({
    title: `an eviction during ${call} rejects with CLOSED when its client closes, and so does a later eviction`,
    async check(stage) {
      const claim = await join(stage, stage.client());
      const failing: Intercept = (at, proceed) =>
        at === call ? Promise.reject(new Error('no answer')) : proceed();
      const operator = stage.client({ link: { intercept: failing } });
      const evicted = rejection(operator.evict('x', front(stage), { reason: 'a test' }));
      await stage.settle();
      await stage.passing(operator.close());
      expect(await stage.passing(evicted)).to.include({ code: 'CLOSED' });
      expect(claim.last.status).to.equal('held');
      expect(await rejection(operator.evict('x', front(stage), { reason: 'again' }))).to.include({
        code: 'CLOSED',
      });
      claim.subscription.unsubscribe();
    },
  })),
  {
    title:
      'the stream of evictions emits the recorded ones first, then every new one, and completes when the client closes',
    async check(stage) {
      const operator = stage.client();
      const reported: number[] = [];
      let completed = false;
      operator.evictions('x').subscribe({
        next: (all) => reported.push(all.length),
        complete: () => (completed = true),
      });
      const claim = follow(stage.client().claim('x'));
      await stage.settle();
      await stage.passing(operator.evict('x', front(stage), { reason: 'a test' }));
      await stage.passing(operator.close());
      expect([reported, completed, claim.last.status]).to.deep.equal([[0, 0, 1], true, 'ended']);
    },
  },
];

function inLine(stage: Stage, position: number): Parameters<LockClient['evict']>[1] {
  const { key, order } = stage.server.queues().get('x')![position]!;
  return { key, order, owner: 'whoever it is' };
}
