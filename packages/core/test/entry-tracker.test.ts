import { expect } from 'chai';
import { EntryTracker, type TrackedEntry } from '../src/turn/entry-tracker.ts';

const PLACED = { queue: 'a', id: 'i', ord: 1, key: 'a/1', call: 1 };
const WAITS = { admitted: false, ahead: 1 };
const OWNS = { admitted: true };

/** Records what followers of an entry are notified of: whether it is admitted, and finally the code of its loss. */
class Notifications {
  readonly entries = new EntryTracker<TrackedEntry>();

  place(more: Partial<TrackedEntry> = {}): readonly (boolean | string)[] {
    const told: (boolean | string)[] = [];
    this.entries.track({ ...PLACED, turn: WAITS, ...more }).subscribe({
      next: ({ admitted }) => told.push(admitted),
      error: ({ code }: { readonly code: string }) => told.push(code),
    });
    return told;
  }

  look(call: number, isAdmitted?: boolean): void {
    this.entries.reconcile(call, new Map(isAdmitted === undefined ? [] : [[PLACED.ord, isAdmitted]]));
  }
}

describe('an entry whose turn the store reports', () => {
  let told: Notifications;

  beforeEach(() => {
    told = new Notifications();
  });

  it('is admitted by the reply, by a notification, or by a read', () => {
    expect(told.place({ ord: 2, id: 'j', turn: OWNS })).to.deep.equal([true]);
    const byNews = told.place();
    told.entries.notify(1, true, 1);
    expect(byNews).to.deep.equal([false, true]);
    const byLook = told.place({ ord: 3, id: 'k' });
    told.entries.reconcile(2, new Map([1, 2, 3].map((ord) => [ord, true])));
    expect(byLook).to.deep.equal([false, true]);
  });

  it('uses the notification that came before the reply, and ignores one that came before any request', async () => {
    told.entries.notify(1, true, 1);
    expect(told.place()).to.deep.equal([false]);
    await told.entries.whilePending(async () => {
      told.entries.notify(2, true, 1);
      expect(told.place({ ord: 2, id: 'j' })).to.deep.equal([false, true]);
      told.entries.notify(3, 'ENTRY_LOST', 1);
      expect(told.place({ ord: 3, id: 'k' })).to.deep.equal([false, 'ENTRY_LOST']);
    });
    expect(told.entries.all.map(({ ord }) => ord)).to.deep.equal([1, 2]);
  });

  it('is lost when a read does not find it, or finds that it is no longer admitted', () => {
    const missing = told.place();
    told.look(2);
    expect(missing).to.deep.equal([false, 'ENTRY_LOST']);
    const demoted = told.place({ turn: OWNS });
    told.look(2, false);
    expect(demoted).to.deep.equal([true, 'ENTRY_LOST']);
  });

  it('ignores a read that was requested before the reply, or before the notification', () => {
    const placed = told.place({ call: 2 });
    told.look(2);
    told.entries.notify(1, true, 3);
    told.look(3, false);
    expect(placed).to.deep.equal([false, true]);
    told.look(4, false);
    expect(placed).to.deep.equal([false, true, 'ENTRY_LOST']);
  });

  it('does not wait again when a late reply places it once more', () => {
    const first = told.place();
    told.entries.notify(1, true, 1);
    expect(told.place()).to.deep.equal([false, true]);
    expect([first, [...told.entries.waiting]]).to.deep.equal([[false, true], []]);
  });

  it('is admitted for all followers when it is placed once more as admitted', () => {
    const first = told.place();
    expect(told.place({ turn: OWNS })).to.deep.equal([true]);
    expect([first, told.entries.anyWaits]).to.deep.equal([[false, true], false]);
  });

  it('is tracked until it leaves or the session ends', () => {
    const left = told.place();
    expect(told.entries.remove('a', 'i')).to.include({ ord: 1 });
    expect([told.entries.has(1), told.entries.remove('a', 'i')]).to.deep.equal([false, undefined]);
    const ended = told.place({ ord: 2 });
    told.entries.endSession();
    expect([left, ended, told.entries.size]).to.deep.equal([
      [false, 'ENTRY_LOST'],
      [false, 'SESSION_LOST'],
      0,
    ]);
  });
});
