import { expect } from 'chai';
import { virtualClock } from '@queuelock/memory';
import { QueueLockError } from '../src/api/errors.ts';
import { PendingEnqueues } from '../src/kit/pending-enqueues.ts';
import { SessionReconciler, type FoundEntry } from '../src/turn/session-reconciler.ts';
import { EntryTracker, type TrackedEntry } from '../src/turn/entry-tracker.ts';

const INHERITED = 10;

function entry(ord: number): FoundEntry {
  return { queue: 'a', id: `i${ord}`, ord, admitted: true };
}

/** A store with entries of one session, whose replies take 10 ms. */
class Store {
  readonly clock = virtualClock();
  readonly entries = new EntryTracker<TrackedEntry>();
  readonly pendingEnqueues = new PendingEnqueues();
  readonly removed: FoundEntry['ord'][] = [];
  readonly looks: SessionReconciler<FoundEntry>;
  has: readonly FoundEntry[] = [];
  asked = 0;
  isDown = false;

  constructor() {
    this.looks = new SessionReconciler<FoundEntry>({
      entries: this.entries,
      pendingEnqueues: this.pendingEnqueues,
      inherited: INHERITED,
      readEntries: () => this.#look(),
      remove: async ({ ord }) => this.removed.push(ord),
      nextCall: () => (this.asked += 1),
    });
    this.looks.entryAdded();
  }

  /** Places an entry and records its notifications. */
  place(ord: number): readonly string[] {
    const reported: string[] = [];
    const { queue, id } = entry(ord);
    this.entries
      .track({ queue, id, ord, key: id, turn: { admitted: true }, call: this.asked })
      .subscribe({ error: ({ code }: { readonly code: string }) => reported.push(code) });
    return reported;
  }

  /** Requests a read of all entries, and lets a second pass, in which the result is applied. */
  async look(): Promise<void> {
    this.looks.reconcile();
    await this.clock.advance(1_000);
  }

  async #look(): Promise<readonly FoundEntry[]> {
    const { has, isDown } = this;
    await new Promise<void>((resolve) => this.clock.after(10, resolve));
    if (isDown) throw new QueueLockError('UNAVAILABLE', 'down');
    return has;
  }
}

describe('a read of all entries of a session', () => {
  let store: Store;

  beforeEach(() => {
    store = new Store();
  });

  it('reports the entries that the store has lost', async () => {
    const reported = [store.place(11), store.place(12)];
    store.has = [entry(12)];
    await store.look();
    expect(reported).to.deep.equal([['ENTRY_LOST'], []]);
    expect(store.looks.unclaimed).to.deep.equal([]);
  });

  it('removes an entry that has left and is there again', async () => {
    store.place(11);
    store.entries.remove('a', 'i11');
    store.has = [entry(11)];
    await store.look();
    expect(store.removed).to.deep.equal([11]);
    expect(store.looks.unclaimed).to.deep.equal([]);
  });

  it('keeps entries with a request in flight, and inherited entries that have not left', async () => {
    store.has = [entry(9), entry(10), entry(11)];
    store.looks.entryRemoved(entry(9));
    await store.pendingEnqueues.track([entry(11)], () => store.look());
    expect(store.removed).to.deep.equal([9]);
    expect(store.looks.unclaimed).to.deep.equal([entry(10), entry(11)]);
  });

  it('runs once at a time, and once more when it was requested meanwhile', async () => {
    store.looks.reconcile();
    store.looks.reconcile();
    store.looks.reconcile();
    expect(store.asked).to.equal(1);
    await store.clock.advance(1_000);
    expect(store.asked).to.equal(2);
  });

  it('is requested again when it fails', async () => {
    store.isDown = true;
    await store.look();
    expect(store.looks.unclaimed).to.equal(undefined);
    store.isDown = false;
    await store.look();
    expect(store.looks.unclaimed).to.deep.equal([]);
  });

  it('does not run before an entry was requested', () => {
    const reads = new SessionReconciler<FoundEntry>({
      entries: store.entries,
      pendingEnqueues: store.pendingEnqueues,
      inherited: 0,
      readEntries: () => expect.fail('looked'),
      remove: () => expect.fail('removed'),
      nextCall: () => 1,
    });
    reads.reconcile();
  });
});
