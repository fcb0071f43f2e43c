import { QueueLockError, type QueueEntry, type QueueState } from '@queuelock/core';
import type { Intercept } from '@queuelock/memory';
import { expect } from 'chai';
import { from } from 'rxjs';
import { leaderIn } from '../src/election-view.ts';
import { election, type Election, type Leadership } from '../src/index.ts';
import { MemoryStage, TTL_MS, deferred, failureOf, thrownBy } from './election-stage.ts';
import { follow } from './frame.ts';

describe('leader election', () => {
  let stage: MemoryStage;

  beforeEach(() => {
    stage = new MemoryStage();
  });

  afterEach('leaves nothing behind', () => stage.close());

  const candidate = (value: string): Election => election(stage.client(), 'x', { value });

  describe('a campaign', () => {
    it('is won by the first candidate, with its value', async () => {
      const leadership = await candidate('a').campaign();
      expect(leadership).to.include({ name: 'x', value: 'a', held: true });
      expect(leadership.remainingMs).to.be.above(0);
      expect(leadership.signal.aborted).to.equal(false);
      leadership.throwIfLost(100);
    });

    it('is won in the order of joining, each time after the previous leader has resigned', async () => {
      const elected: string[] = [];
      const first = await candidate('a').campaign();
      const others: Promise<Leadership>[] = [];
      for (const value of ['b', 'c']) {
        others.push(candidate(value).campaign());
        void others.at(-1)!.then((leadership) => elected.push(leadership.value));
        await stage.settle();
      }
      await first.resign();
      const second = await others[0]!;
      await stage.settle();
      expect(elected).to.deep.equal(['b']);
      expect(second.token > first.token, 'the token grows').to.equal(true);
      await second.resign();
      await others[1];
      expect(elected).to.deep.equal(['b', 'c']);
    });

    it('stores only the value in its entry, so that clients of other libraries can read it', async () => {
      await candidate('10.0.0.1:80').campaign();
      void candidate('{"addr":"ü"}').campaign();
      await stage.settle();
      expect(stage.values('x')).to.deep.equal(['10.0.0.1:80', '{"addr":"ü"}']);
    });

    it('waits behind a lock of the same name', async () => {
      const lock = await stage.client().acquire('x');
      const campaign = candidate('a').campaign();
      await stage.settle();
      expect(stage.values('x')).to.have.lengthOf(2);
      await lock.release();
      expect(await campaign).to.include({ held: true });
    });

    it("rejects with TIMEOUT or the signal's reason, and leaves no entry", async () => {
      await candidate('a').campaign();
      const giving = new AbortController();
      const timed = failureOf(candidate('b').campaign({ timeoutMs: 100 }));
      const aborted = failureOf(candidate('c').campaign({ signal: giving.signal }));
      await stage.settle();
      expect(stage.values('x')).to.deep.equal(['a', 'b', 'c']);
      giving.abort(new Error('enough'));
      await stage.clock.advance(100);
      expect(await timed).to.include({ code: 'TIMEOUT' });
      expect(await aborted).to.equal(giving.signal.reason);
      expect(stage.values('x')).to.deep.equal(['a']);
    });

    it('rejects invalid names, values and ids at the call', () => {
      const client = stage.client();
      const of = (options: unknown, name = 'x'): string =>
        thrownBy(() => election(client, name, options as { value: string })).message;
      expect(of({ value: 'a' }, '')).to.match(/INVALID_ARGUMENT.*name/);
      expect(of({})).to.match(/INVALID_ARGUMENT.*value is a string; got undefined/);
      expect(of({ value: 7 })).to.match(/INVALID_ARGUMENT.*value is a string; got 7/);
      expect(of({ value: 'a'.repeat(1_025) })).to.match(/INVALID_ARGUMENT.*value.*1,?024/);
      expect(of({ value: 'a', id: 'b' })).to.match(/INVALID_ARGUMENT.*id is/);
    });
  });

  describe('a leadership', () => {
    it('ends once when `resign` is called twice, and does not count as lost', async () => {
      const leadership = await candidate('a').campaign();
      const [one, other] = [leadership.resign(), leadership.resign()];
      expect(leadership.held, 'at once').to.equal(false);
      await Promise.all([one, other]);
      expect(leadership.signal.aborted).to.equal(false);
      expect(stage.values('x')).to.deep.equal([]);
    });

    it('ends at the end of an `await using` block', async () => {
      const election_ = candidate('a');
      await (await election_.campaign())[Symbol.asyncDispose]();
      expect(stage.values('x')).to.deep.equal([]);
    });

    it('ends at the deadline of the session, although no timer has fired', async () => {
      const leadership = await candidate('a').campaign();
      stage.clock.stall(TTL_MS);
      expect(leadership.held).to.equal(false);
      expect(leadership.signal.reason).to.include({ code: 'OWNERSHIP_LOST' });
      expect(() => leadership.throwIfLost()).to.throw(QueueLockError, 'OWNERSHIP_LOST');
    });

    it('ends when the server reports the end of the session', async () => {
      const leadership = await candidate('a').campaign();
      const next = candidate('b').campaign();
      await stage.settle();
      const heldAtLoss: boolean[] = [];
      leadership.signal.addEventListener('abort', () => heldAtLoss.push(leadership.held));
      stage.expireFirst('x');
      expect(heldAtLoss).to.deep.equal([false]);
      expect(await next).to.include({ value: 'b', held: true });
    });

    it('publishes further values one after the other', async () => {
      const leadership = await candidate('a').campaign();
      await Promise.all([leadership.proclaim('b'), leadership.proclaim('c')]);
      expect(leadership.value).to.equal('c');
      expect(stage.values('x')).to.deep.equal(['c']);
    });

    it('rejects a value that cannot be stored', async () => {
      const leadership = await candidate('a').campaign();
      for (const value of ['a'.repeat(1_025), undefined as unknown as string]) {
        expect(await failureOf(leadership.proclaim(value))).to.include({ code: 'INVALID_ARGUMENT' });
      }
      expect(leadership.value).to.equal('a');
      expect(stage.values('x')).to.deep.equal(['a']);
    });

    it('rejects `proclaim` after it has resigned or was lost', async () => {
      const resigned = await candidate('a').campaign();
      await resigned.resign();
      const lost = await candidate('b').campaign();
      void candidate('c').campaign();
      await stage.settle();
      stage.expireFirst('x');
      for (const over of [resigned, lost])
        expect(await failureOf(over.proclaim('z'))).to.include({ code: 'OWNERSHIP_LOST' });
      expect(stage.values('x')).to.deep.equal(['c']);
    });

    it('retries a `proclaim` whose reply was lost', async () => {
      let lose = true;
      const intercept: Intercept = async (call, proceed) => {
        const response = await proceed();
        if (call !== 'update' || !lose) return response;
        lose = false;
        throw new QueueLockError('UNAVAILABLE', 'the answer was lost');
      };
      const leadership = await election(stage.client({ backend: { intercept } }), 'x', {
        value: 'a',
      }).campaign();
      const proclaimed = leadership.proclaim('b');
      await stage.clock.advance(1_000);
      await proclaimed;
      expect(leadership.value).to.equal('b');
    });

    it('never changes the entry of a later leader, even by a late request', async () => {
      const arrives = deferred();
      const intercept: Intercept = async (call, proceed) => {
        if (call === 'update') await arrives.promise;
        return proceed();
      };
      const client = stage.client({ backend: { intercept } });
      const leadership = await election(client, 'x', { value: 'a' }).campaign();
      const proclaimed = failureOf(leadership.proclaim('late'));
      const again = election(client, 'x', { value: 'b' }).campaign();
      await stage.settle();
      void leadership.resign();
      await stage.settle();
      expect(await again).to.include({ value: 'b', held: true });
      arrives.resolve();
      expect(await proclaimed).to.include({ code: 'OWNERSHIP_LOST' });
      expect(stage.values('x')).to.deep.equal(['b']);
    });
  });

  describe('a campaign whose signal aborts', () => {
    /**
     * Runs a campaign, and aborts its signal at the `at`-th request, reply or event of the campaign. If
     * `behind` is true, another leader is ahead.
     */
    async function giveUp(behind: boolean, at: number): Promise<{ points: number; led: boolean }> {
      const scene = new MemoryStage();
      const giving = new AbortController();
      const first = behind ? await scene.client().acquire('x') : undefined;
      let points = 0;
      const point = async (): Promise<void> => {
        if (points++ === at) giving.abort(new Error('given up'));
        await new Promise<void>((resolve) => scene.clock.after(10, resolve));
      };
      const intercept: Intercept = async (call, proceed) => {
        if (call === 'close') return proceed();
        await point();
        const response = await proceed();
        await point();
        return response;
      };
      const deliver = (arrive: () => void): void => void point().then(arrive);
      const client = scene.client({ backend: { intercept, deliver } });
      const campaign = election(client, 'x', { value: 'a' }).campaign({ signal: giving.signal });
      const outcome = campaign.catch((error: unknown) => error);
      await scene.clock.advance(100);
      await first?.release();
      await scene.clock.advance(100);
      const leadership = await outcome;
      const led = leadership !== giving.signal.reason;
      if (led) await Promise.all([(leadership as Leadership).resign(), scene.clock.advance(100)]);
      await scene.clock.advance(100);
      expect(scene.server.entryCount).to.equal(0);
      await Promise.all([scene.close(), scene.clock.advance(1_000)]);
      return { points, led };
    }

    for (const behind of [false, true]) {
      it(`leaves no entry, whichever await the abort interrupts (${behind ? 'behind another leader' : 'without a leader'})`, async () => {
        const outcomes = new Set<boolean>();
        const { points } = await giveUp(behind, Infinity);
        for (let at = 0; at < points; at += 1) outcomes.add((await giveUp(behind, at)).led);
        expect([...outcomes], 'both are met').to.have.members([true, false]);
      });
    }
  });

  describe('leader$ or candidates$ of an observer', () => {
    it('emits each change once: another leader, another value, or no leader', async () => {
      const seen = follow(candidate('observer').leader$);
      const first = await candidate('a').campaign();
      const next = candidate('c').campaign();
      await first.proclaim('b');
      await first.proclaim('b');
      await first.resign();
      await (await next).resign();
      await stage.settle();
      expect(seen.values.map(({ status, leader }) => [status, leader?.value])).to.deep.equal([
        ['connecting', undefined],
        ['live', undefined],
        ['live', 'a'],
        ['live', 'b'],
        ['live', 'c'],
        ['live', undefined],
      ]);
      seen.stop();
    });

    it('emits the present leader with its key and order number to each new subscriber', async () => {
      const leadership = await candidate('a').campaign();
      const observer = candidate('observer');
      const seen = [follow(observer.leader$), follow(observer.leader$)];
      await stage.settle();
      const { key, order } = leadership;
      for (const { last } of seen)
        expect(last).to.deep.equal({ status: 'live', leader: { value: 'a', key, order } });
      for (const { stop } of seen) stop();
    });

    it('emits the value that a leader of another program has stored', async () => {
      const seen = follow(candidate('observer').leader$);
      await stage.client().acquire('x', { value: '10.0.0.7:443' });
      await stage.settle();
      expect(seen.last?.leader).to.include({ value: '10.0.0.7:443' });
      seen.stop();
    });

    it('emits the end of a leader as soon as its session has ended', async () => {
      const seen = follow(candidate('observer').leader$);
      await candidate('a').campaign();
      stage.expireFirst('x');
      expect(seen.last).to.deep.equal({ status: 'live', leader: undefined });
      seen.stop();
    });

    it('emits the candidates in the order in which they will lead', async () => {
      const seen = follow(candidate('observer').candidates$);
      const first = await candidate('a').campaign();
      for (const value of ['b', 'c']) {
        void candidate(value).campaign();
        await stage.settle();
      }
      await first.resign();
      await stage.settle();
      expect(
        seen.values.map(({ candidates }) => candidates.map(({ value }) => value).join('')),
      ).to.deep.equal(['', '', 'a', 'ab', 'abc', 'bc']);
      seen.stop();
    });

    it('distinguishes a new leader from the previous one even if both have the same key', () => {
      const entry = (order: bigint): QueueEntry => ({
        ...{ key: 'x/7', order, shared: false, owner: 'a', metadata: {}, value: 'a' },
        ...{ permits: 1, limit: 1, holds: [], heard: [], answers: [] },
      });
      const states = [1n, 1n, 2n].map((order): QueueState => ({
        status: 'live',
        name: 'x',
        entries: [entry(order)],
      }));
      const { values } = follow(leaderIn(from(states)));
      expect(values.map(({ leader }) => leader?.order)).to.deep.equal([1n, 2n]);
    });

    it('completes when the client is closed', async () => {
      const client = stage.client();
      const { leader$, candidates$ } = election(client, 'x', { value: 'a' });
      const seen = [follow(leader$), follow(candidates$)];
      await client.close();
      for (const { end } of seen) expect(end).to.equal('complete');
    });
  });
});
