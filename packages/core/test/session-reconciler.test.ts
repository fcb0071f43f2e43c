import { expect } from 'chai';
import { virtualClock } from '@queuelock/memory';
import { QueueLockError } from '../src/api/errors.ts';
import { PendingEnqueues } from '../src/kit/pending-enqueues.ts';
import { SessionReconciler, type FoundEntry } from '../src/turn/session-reconciler.ts';
import { EntryTracker, refOf, type TrackedEntry } from '../src/turn/entry-tracker.ts';

function entry(ord: number): FoundEntry {
  return { queue: 'a', id: `i${ord}`, ord, admitted: true };
}

const INHERITED: ReadonlySet<string> = new Set([entry(9), entry(10)].map(refOf));

/** A simulated store with the entries of one session. Its replies take 10 ms. */
class Store {
  readonly clock = virtualClock();
  readonly entries = new EntryTracker<TrackedEntry>();
  readonly pendingEnqueues = new PendingEnqueues();
  readonly removed: FoundEntry['ord'][] = [];
  readonly looks: SessionReconciler<FoundEntry>;
  has: readonly FoundEntry[] = [];
  requested = 0;
  isDown = false;

  constructor() {
    this.looks = new SessionReconciler<FoundEntry>({
      entries: this.entries,
      pendingEnqueues: this.pendingEnqueues,
      inherited: INHERITED,
      readEntries: () => this.#read(),
      remove: async ({ ord }) => this.removed.push(ord),
      nextCall: () => (this.requested += 1),
    });
    this.looks.entryAdded();
  }

  /**
   * Adds an entry that this process tracks. The returned array collects the codes of the errors that the
   * waiter of the entry receives.
   */
  place(ord: number): readonly string[] {
    const reported: string[] = [];
    const { queue, id } = entry(ord);
    this.entries
      .track({ queue, id, ord, key: id, turn: { admitted: true }, call: this.requested })
      .subscribe({ error: ({ code }: { readonly code: string }) => reported.push(code) });
    return reported;
  }

  /**
   * Starts a read of all entries of the session, and advances the time by a second so that the result is
   * applied.
   */
  async read(): Promise<void> {
    this.looks.reconcile();
    await this.clock.advance(1_000);
  }

  async #read(): Promise<readonly FoundEntry[]> {
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

  it('reports ENTRY_LOST for an entry that the store no longer has', async () => {
    const reported = [store.place(11), store.place(12)];
    store.has = [entry(12)];
    await store.read();
    expect(reported).to.deep.equal([['ENTRY_LOST'], []]);
    expect(store.looks.unclaimed).to.deep.equal([]);
  });

  it('removes a stored entry that its waiter has left', async () => {
    store.place(11);
    store.entries.remove('a', 'i11');
    store.has = [entry(11)];
    await store.read();
    expect(store.removed).to.deep.equal([11]);
    expect(store.looks.unclaimed).to.deep.equal([]);
  });

  it('removes no entry whose enqueue is in flight', async () => {
    store.has = [entry(9), entry(10), entry(11)];
    store.looks.entryRemoved(entry(9));
    await store.pendingEnqueues.track([entry(11)], () => store.read());
    expect(store.removed).to.deep.equal([9]);
    expect(store.looks.unclaimed).to.deep.equal([entry(10), entry(11)]);
  });

  it('removes a stored entry that its waiter has left, although its number is below those of an earlier process', async () => {
    // The number is smaller because the clock of the store was set back after the session was resumed.
    store.place(5);
    store.entries.remove('a', 'i5');
    store.has = [entry(5), entry(9)];
    await store.read();
    expect(store.removed).to.deep.equal([5]);
    expect(store.looks.unclaimed).to.deep.equal([entry(9)]);
  });

  it('runs once at a time, and once more when it was requested during a run', async () => {
    store.looks.reconcile();
    store.looks.reconcile();
    store.looks.reconcile();
    expect(store.requested).to.equal(1);
    await store.clock.advance(1_000);
    expect(store.requested).to.equal(2);
  });

  it('is requested again when it fails', async () => {
    store.isDown = true;
    await store.read();
    expect(store.looks.unclaimed).to.equal(undefined);
    store.isDown = false;
    await store.read();
    expect(store.looks.unclaimed).to.deep.equal([]);
  });

  it('does not start before the session has requested an entry', () => {
    const reads = new SessionReconciler<FoundEntry>({
      entries: store.entries,
      pendingEnqueues: store.pendingEnqueues,
      inherited: new Set(),
      readEntries: () => expect.fail('looked'),
      remove: () => expect.fail('removed'),
      nextCall: () => 1,
    });
    reads.reconcile();
  });
});
