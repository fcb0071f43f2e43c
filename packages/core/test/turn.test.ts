import { expect } from 'chai';
import fc from 'fast-check';
import { LocalWaiters, entriesAheadWithout, turnOf } from '../src/backend.ts';
import type { Unsubscribable } from '../src/base/rx.ts';
import { followTurns, turnsByWatching, type QueueView } from '../src/turn/turn-watch.ts';
import { remembered, type Departure, type EntriesAhead } from '../src/turn/watch-kit.ts';

describe('the turn of an entry', () => {
  for (const [ahead, limit, admitted] of [
    [0, 1, true],
    [1, 1, false],
    [2, 1, false],
    [2, 3, true],
    [3, 3, false],
  ] as const) {
    it(`with ${String(ahead)} entries ahead and a limit of ${String(limit)} is ${admitted ? 'admitted' : 'not admitted'}`, () => {
      const refs = Array.from({ length: ahead }, () => ({}));
      expect(turnOf({ refs }, { limit }).admitted).to.equal(admitted);
    });
  }

  for (const [ahead, permits, admitted] of [
    [[], 5, true],
    [[1], 5, false],
    [[1], 4, true],
    [[2, 1], 2, true],
    [[2, 2], 2, false],
  ] as const) {
    it(`with ${ahead.join(' and ') || 'none'} of 5 permits taken by entries ahead and ${String(permits)} requested is ${admitted ? 'admitted' : 'not admitted'}`, () => {
      const refs = ahead.map((taken) => ({ permits: taken }));
      expect(turnOf({ refs }, { limit: 5, permits }).admitted).to.equal(admitted);
    });
  }

  it('contains the number of entries ahead only if the backend knows it', () => {
    expect(turnOf({ refs: [{}], total: 9 }, { limit: 1 })).to.deep.equal({ admitted: false, ahead: 9 });
    expect(turnOf({ refs: [{}] }, { limit: 1 })).to.deep.equal({ admitted: false });
  });
});

describe('the turn of an entry, computed when an entry ahead is removed', () => {
  const [near, middle, far] = [{ permits: 1 }, { permits: 1 }, { permits: 1 }];
  const lock = { limit: 1 };

  it('is admitted when the removed entry was the only entry ahead', () => {
    expect(entriesAheadWithout({ refs: [near], total: 1 }, { ref: near, at: 7n }, lock)).to.deep.equal({
      refs: [],
      total: 0,
      seenAt: 7n,
    });
  });

  it('is unknown when another entry was ahead of the removed entry', () => {
    expect(entriesAheadWithout({ refs: [near, far], total: 2 }, { ref: near }, lock)).to.equal(undefined);
  });

  it('is unknown when the last read did not return all entries ahead', () => {
    expect(entriesAheadWithout({ refs: [near] }, { ref: near }, lock)).to.equal(undefined);
    expect(entriesAheadWithout({ refs: [near], total: 9 }, { ref: near }, lock)).to.equal(undefined);
  });

  it('is admitted when the removed entry held the lock', () => {
    const known = entriesAheadWithout({ refs: [near, far] }, { ref: near, owned: true }, lock);
    expect(known).to.deep.equal({ refs: [], total: 0 });
  });

  it('is unknown when other entries wait between this entry and the removed holder', () => {
    const ahead = { refs: [near, middle, far], total: 3 };
    expect(entriesAheadWithout(ahead, { ref: middle, owned: true }, lock)).to.equal(undefined);
  });

  it('is admitted when the remaining entries ahead leave enough permits', () => {
    const ahead = { refs: [near, middle, far], total: 3 };
    const known = entriesAheadWithout(ahead, { ref: far }, { limit: 3 });
    expect(known).to.deep.equal({ refs: [near, middle], total: 2 });
    expect(entriesAheadWithout(ahead, { ref: far }, { limit: 3, permits: 2 })).to.equal(undefined);
  });
});

describe('entries that waiters of this process watch', () => {
  it('are reported as admitted, once marked so, even to waiters that watch them later', () => {
    const followed = new LocalWaiters();
    const entry = followed.follow('a');
    expect(entry.owned).to.equal(false);
    expect(followed.markOwned('a')).to.equal(true);
    expect(entry.owned).to.equal(true);
    expect(followed.follow('a').owned).to.equal(true);
  });

  it('are forgotten when the last waiter stops watching them', () => {
    const followed = new LocalWaiters();
    const [one, other] = [followed.follow('a'), followed.follow('a')];
    one.unfollow();
    one.unfollow();
    expect(followed.markOwned('a')).to.equal(true);
    other.unfollow();
    expect(followed.markOwned('a')).to.equal(false);
    expect(followed.follow('a').owned).to.equal(false);
  });
});

describe('the subset of the entries ahead that a waiter stores', () => {
  it('is enough to compute the same turn as from all entries ahead, whichever entry is removed', () => {
    const taker = fc.record({ permits: fc.integer({ min: 1, max: 3 }) });
    const property = fc.property(
      fc.array(taker, { minLength: 1, maxLength: 6 }),
      fc.option(fc.nat({ max: 4 }), { nil: undefined }),
      fc.record({ limit: fc.integer({ min: 3, max: 5 }), permits: fc.integer({ min: 1, max: 3 }) }),
      fc.boolean(),
      (refs, unseen, rule, owned) => {
        const ahead = unseen === undefined ? { refs } : { refs, total: refs.length + unseen };
        const kept = remembered(ahead, rule);
        expect(turnOf(kept, rule)).to.deep.equal(turnOf(ahead, rule));
        for (const ref of kept.refs)
          expect(entriesAheadWithout(kept, { ref, owned }, rule)).to.deep.equal(
            entriesAheadWithout(ahead, { ref, owned }, rule),
          );
      },
    );
    fc.assert(property);
  });

  it('is a single entry for an exclusive lock, however many entries were read', () => {
    const refs = Array.from({ length: 31 }, () => ({}));
    expect(remembered({ refs }, { limit: 1 }).refs).to.have.lengthOf(1);
    expect(remembered({ refs, total: 9_000 }, { limit: 1 }).refs).to.deep.equal(refs.slice(0, 1));
    expect(remembered({ refs, total: refs.length }, { limit: 1 }).refs).to.deep.equal(refs.slice(0, 1));
  });
});

describe('the watches of a waiting entry', () => {
  const failure = new Error('the driver is closed');

  /** A queue in which the watch of every entry except `watchable` throws when it starts. */
  class FailingQueue {
    ownWatches = 0;
    removed: (departure: Departure | undefined) => void = () => undefined;
    readonly view: QueueView<object>;

    constructor(watchable: object | undefined) {
      this.view = {
        ahead: () => Promise.resolve({ refs: [{}] }),
        ownRemoval: () => ({ subscribe: () => this.#watchOwn() }),
        removal: (ref: object) => ({
          subscribe: (listener: { next(departure: Departure | undefined): void }) => {
            if (ref !== watchable) throw failure;
            this.removed = (departure) => listener.next(departure);
            return { unsubscribe: () => undefined };
          },
        }),
      };
    }

    /** Follows the turns of an entry. Resolves with the error that ends them. */
    follow(first: EntriesAhead<object>): Promise<unknown> {
      return new Promise((resolve) => {
        followTurns(this.view, { rule: { limit: 1 }, first }, { next: () => undefined, error: resolve });
      });
    }

    #watchOwn(): Unsubscribable {
      this.ownWatches += 1;
      return { unsubscribe: () => (this.ownWatches -= 1) };
    }
  }

  it('end with the error of the store if the watch of the predecessor fails to start', async () => {
    const queue = new FailingQueue(undefined);
    expect(await queue.follow({ refs: [{}] })).to.equal(failure);
    expect(queue.ownWatches).to.equal(0);
  });

  it('end with the error of the store if the watch of the next predecessor fails to start', async () => {
    const [near, far] = [{}, {}];
    const queue = new FailingQueue(near);
    const error = queue.follow({ refs: [near, far], total: 2 });
    queue.removed(undefined);
    expect(await error).to.equal(failure);
    expect(queue.ownWatches).to.equal(0);
  });
});

describe('the watch of an admitted entry', () => {
  it("starts after 250 ms, and ends with the store's error if the start fails", () => {
    const failure = new Error('the driver is closed');
    const tasks: { timedOut(): void }[] = [];
    const view = {
      ownRemoval: () => ({
        subscribe: () => {
          throw failure;
        },
      }),
      unwatched: { start: (task: { timedOut(): void }) => void tasks.push(task), cancel: () => undefined },
    } as unknown as QueueView<object>;
    const errors: unknown[] = [];
    turnsByWatching(view, { limit: 1 }, { refs: [] }).subscribe({ error: (cause) => errors.push(cause) });
    expect(errors).to.be.empty;
    tasks[0]!.timedOut();
    expect(errors).to.deep.equal([failure]);
  });
});
