import { expect } from 'chai';
import type { Backend, StoredEntry } from '@queuelock/core/backend';
import type { Contender } from '../contender.ts';
import { fact, type Fact } from '../fact.ts';
import { lacks } from '../lacks.ts';
import type { Stage } from '../stage.ts';
import { enterAll, expectOnlyAdmitted, type ContenderTuple } from './line.ts';

type Target = Pick<StoredEntry, 'key' | 'order'>;

/** Evicts entries through a connection that none of the contenders uses. */
class Evictor {
  readonly #stage: Stage;
  readonly #backend: Backend;

  constructor(stage: Stage, backend: Backend) {
    this.#stage = stage;
    this.#backend = backend;
  }

  /** Evicts the entry with this `key` and `order`. Resolves with whether the entry was in the queue. */
  async at({ key, order }: Target, queue: string = this.#stage.queue): Promise<boolean> {
    const response = this.#backend.evict?.(queue, { key, order }) ?? lacks('Backend.evict');
    return this.#stage.board.within('evict answers', response);
  }

  /** Waits until an observer sees the contender's entry, and evicts it by its `key` and `order`. */
  async take(contender: Contender): Promise<boolean> {
    const watch = this.#stage.watchOn(this.#backend);
    const sees = ({ order }: StoredEntry): boolean => order === contender.order;
    await watch.until('the entry', (entries) => entries.some(sees));
    watch.stop();
    contender.giveUp();
    return this.at(watch.entries.find(sees) ?? contender.placement);
  }
}

function evictorFact(title: string, play: (stage: Stage, evictor: Evictor) => Promise<void>): Fact {
  const played = async (stage: Stage): Promise<void> =>
    play(stage, new Evictor(stage, await stage.connect()));
  return fact(title, played, ['eviction']);
}

/** Facts about `evict`, with which the backend removes an entry for an operator. */
export const backendEvictionFacts: readonly Fact[] = [
  evictorFact(
    'a holder that is evicted is notified, and the next waiter is admitted',
    async (stage, evictor) => {
      const line = await enterAll(stage, {}, {}, {});
      const [holder, next] = line as ContenderTuple<3>;
      await holder.untilAdmitted();
      expect(await evictor.take(holder)).to.equal(true);
      expect(await holder.untilLost()).to.equal('ENTRY_LOST');
      await expectOnlyAdmitted(stage, line, [next]);
      expect(await holder.leave()).to.equal(false);
    },
  ),

  evictorFact(
    'a waiter that is evicted is notified, and the waiters behind it move up',
    async (stage, evictor) => {
      const line = await enterAll(stage, {}, {}, {});
      const [holder, waiter, last] = line as ContenderTuple<3>;
      expect(await evictor.take(waiter)).to.equal(true);
      expect(await waiter.untilLost()).to.equal('ENTRY_LOST');
      await expectOnlyAdmitted(stage, line, [holder]);
      await holder.leave();
      await last.untilAdmitted();
    },
  ),

  evictorFact(
    'readers and entries with several permits can be evicted like any other',
    async (stage, evictor) => {
      const line = await enterAll(stage, { shared: true }, {}, { limit: 3, permits: 3 }, {});
      const [reader, writer, three, last] = line as ContenderTuple<4>;
      expect(await evictor.take(three)).to.equal(true);
      expect(await evictor.take(reader)).to.equal(true);
      for (const evicted of [three, reader]) expect(await evicted.untilLost()).to.equal('ENTRY_LOST');
      await expectOnlyAdmitted(stage, line, [writer]);
      await writer.leave();
      await last.untilAdmitted();
    },
  ),

  evictorFact('only the entry with that key and that order is evicted, once', async (stage, evictor) => {
    const line = await enterAll(stage, {}, {});
    const [holder, waiter] = line as ContenderTuple<2>;
    const { key, order } = holder.placement;
    for (const wrong of [order + 1n, order - 1n, waiter.order]) {
      expect(await evictor.at({ key, order: wrong }), `order ${wrong}`).to.equal(false);
    }
    await expectOnlyAdmitted(stage, line, [holder]);
    expect(await evictor.take(holder)).to.equal(true);
    expect(await evictor.at({ key, order })).to.equal(false);
    await waiter.untilAdmitted();
    await waiter.leave();
    expect(await evictor.at(waiter.placement)).to.equal(false);
  }),

  evictorFact('the key of another queue is refused with INVALID_ARGUMENT', async (stage, evictor) => {
    const client = await stage.client();
    await client.enter();
    for (const queue of [`${stage.queue}-other`, `${stage.queue}/deeper`]) {
      const stranger = await client.enter({ queue });
      const refusal = await evictor.at(stranger.placement).catch((error: unknown) => error);
      expect(refusal, queue).to.have.property('code', 'INVALID_ARGUMENT');
      await (await stage.watch(queue)).untilKeys(stranger.placement.key);
    }
  }),

  fact(
    'a hold that is evicted leaves its trace in the store',
    async (stage) => {
      const evictor = new Evictor(stage, await stage.connect());
      const [first, next] = await stage.threeClients();
      const [holder, waiter] = [await first.enter(), await next.enter()];
      await first.session.traces?.leave(stage.queue, holder.spec.id);
      expect(await evictor.take(holder)).to.equal(true);
      await waiter.untilAdmitted();
      const traces = await next.session.traces?.leave(stage.queue, waiter.spec.id);
      expect(traces).to.have.length(1);
      await next.session.traces?.erase(stage.queue, traces ?? []);
    },
    ['eviction', 'traces'],
  ),
];
