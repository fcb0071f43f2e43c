import { expect } from 'chai';
import type { Backend, ListedQueue } from '@queuelock/core/backend';
import { fact, type Fact } from '../fact.ts';
import { lacks } from '../lacks.ts';
import type { Stage } from '../stage.ts';

/** Observes all queues whose names begin with a prefix. */
class ListWatch {
  readonly #stage: Stage;
  readonly #subscription: { unsubscribe(): void };
  #seen: readonly ListedQueue[] | undefined;

  constructor(stage: Stage, backend: Backend, prefix: string) {
    this.#stage = stage;
    const listed$ = backend.queues?.(prefix) ?? lacks('Backend.queues');
    this.#subscription = listed$.subscribe({
      next: (queues) => {
        this.#seen = queues;
        stage.board.note();
      },
      error: (error: unknown) => {
        stage.referee.blame(`observing the list of queues failed: ${String(error)}`);
      },
    });
  }

  of(name: string): ListedQueue | undefined {
    return this.#seen?.find((queue) => queue.name === name);
  }

  async until(what: string, holds: (queues: readonly ListedQueue[]) => boolean): Promise<void> {
    const isSeen = (): boolean => this.#seen !== undefined && holds(this.#seen);
    await this.#stage.board.until(`the list of queues shows ${what}`, isSeen);
  }

  /** Resolves when the list consists of exactly these queues, each with this number of entries. */
  async untilDepths(depths: Readonly<Record<string, number>>): Promise<void> {
    await this.until(JSON.stringify(depths), (queues) => {
      const isListed = ({ name, depth }: ListedQueue): boolean => depths[name] === depth;
      return queues.length === Object.keys(depths).length && queues.every(isListed);
    });
  }

  stop(): void {
    this.#subscription.unsubscribe();
  }
}

function listFact(
  title: string,
  play: (stage: Stage, watch: (prefix: string) => Promise<ListWatch>) => Promise<void>,
): Fact {
  const played = async (stage: Stage): Promise<void> => {
    const backend = await stage.connect();
    const watches: ListWatch[] = [];
    await play(stage, async (prefix) => {
      const watch = new ListWatch(stage, backend, prefix);
      watches.push(watch);
      await watch.until('anything', () => true);
      return watch;
    });
    for (const watch of watches) watch.stop();
  };
  return fact(title, played, ['queues']);
}

/** Facts about the list of a store's queues. */
export const queueListFacts: readonly Fact[] = [
  listFact(
    'queues are listed by the prefix of their names, with their number of entries',
    async (stage, watch) => {
      const { queue } = stage;
      const client = await stage.client();
      for (const name of [queue, queue, `${queue}-b/deep`, `x${queue}`]) await client.enter({ queue: name });
      await (await watch(queue)).untilDepths({ [queue]: 2, [`${queue}-b/deep`]: 1 });
      await (await watch(`${queue}-`)).untilDepths({ [`${queue}-b/deep`]: 1 });
      await (await watch(`${queue}-b/d`)).untilDepths({ [`${queue}-b/deep`]: 1 });
      await (await watch(`${queue}-c`)).untilDepths({});
    },
  ),

  listFact('a list of queues follows joins and leaves, and shows no empty queue', async (stage, watch) => {
    const { queue } = stage;
    const list = await watch(queue);
    await list.untilDepths({});
    const client = await stage.client();
    const first = await client.enter();
    const second = await client.enter({ queue: `${queue}-b` });
    await list.untilDepths({ [queue]: 1, [`${queue}-b`]: 1 });
    await first.leave();
    await list.untilDepths({ [`${queue}-b`]: 1 });
    await second.leave();
    await list.untilDepths({});
  }),

  listFact('a list of queues shows the first entry, and how many have left', async (stage, watch) => {
    const { queue } = stage;
    const client = await stage.client();
    const line = [await client.enter(), await client.enter(), await client.enter()] as const;
    const list = await watch(queue);
    await list.untilDepths({ [queue]: 3 });
    expect(list.of(queue)).to.include({ front: line[0].order, left: 0 });
    await line[1].leave();
    await list.untilDepths({ [queue]: 2 });
    expect(list.of(queue)).to.include({ front: line[0].order, left: 1 });
    await line[0].leave();
    await list.untilDepths({ [queue]: 1 });
    expect(list.of(queue)).to.include({ front: line[2].order, left: 2 });
  }),
];
