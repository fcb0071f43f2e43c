import { expect } from 'chai';
import { EntryTracker, type TrackedEntry } from '../src/turn/entry-tracker.ts';

const PLACED = { queue: 'a', id: 'i', ord: 1, key: 'a/1', call: 1 };
const FIRST = '1/i';
const WAITS = { admitted: false, ahead: 1 };
const OWNS = { admitted: true };

/**
 * Records what the subscribers to an entry receive: whether it is admitted, and finally the code of its loss.
 */
class Notifications {
  readonly entries = new EntryTracker<TrackedEntry>();

  place(more: Partial<TrackedEntry> = {}): readonly (boolean | string)[] {
    const reported: (boolean | string)[] = [];
    this.entries.track({ ...PLACED, turn: WAITS, ...more }).subscribe({
      next: ({ admitted }) => reported.push(admitted),
      error: ({ code }: { readonly code: string }) => reported.push(code),
    });
    return reported;
  }

  read(call: number, isAdmitted?: boolean): void {
    this.entries.reconcile(call, new Map(isAdmitted === undefined ? [] : [[FIRST, isAdmitted]]));
  }
}

describe('an entry whose admission the store reports', () => {
  let reported: Notifications;

  beforeEach(() => {
    reported = new Notifications();
  });

  it('is admitted by the response to its enqueue, by a notification, or by a read', () => {
    expect(reported.place({ ord: 2, id: 'j', turn: OWNS })).to.deep.equal([true]);
    const byNews = reported.place();
    reported.entries.notify(FIRST, true, 1);
    expect(byNews).to.deep.equal([false, true]);
    const byRead = reported.place({ ord: 3, id: 'k' });
    reported.entries.reconcile(2, new Map([FIRST, '2/j', '3/k'].map((ref) => [ref, true])));
    expect(byRead).to.deep.equal([false, true]);
  });

  it('is changed by a notification that arrives during its enqueue, but not by an earlier one', async () => {
    reported.entries.notify(FIRST, true, 1);
    expect(reported.place()).to.deep.equal([false]);
    await reported.entries.whilePending(async () => {
      reported.entries.notify('2/j', true, 1);
      expect(reported.place({ ord: 2, id: 'j' })).to.deep.equal([false, true]);
      reported.entries.notify('3/k', 'ENTRY_LOST', 1);
      expect(reported.place({ ord: 3, id: 'k' })).to.deep.equal([false, 'ENTRY_LOST']);
    });
    expect(reported.entries.all.map(({ ord }) => ord)).to.deep.equal([1, 2]);
  });

  it('is not admitted by a notification for an entry of another queue with the same order number', () => {
    const [here, there] = [reported.place(), reported.place({ queue: 'b', id: 'j', key: 'b/1' })];
    reported.entries.notify('1/j', true, 1);
    expect([here, there]).to.deep.equal([[false], [false, true]]);
  });

  it('is not admitted when only another entry with the same order number is admitted', () => {
    const lost = reported.place({ turn: OWNS });
    expect(reported.place({ queue: 'b', id: 'j', key: 'b/1' })).to.deep.equal([false]);
    reported.read(2);
    expect(lost).to.deep.equal([true, 'ENTRY_LOST']);
  });

  it('is lost when a read does not find it, or finds that it is no longer admitted', () => {
    const missing = reported.place();
    reported.read(2);
    expect(missing).to.deep.equal([false, 'ENTRY_LOST']);
    const demoted = reported.place({ turn: OWNS });
    reported.read(2, false);
    expect(demoted).to.deep.equal([true, 'ENTRY_LOST']);
  });

  it('is not changed by a read older than its enqueue response or its latest notification', () => {
    const placement = reported.place({ call: 2 });
    reported.read(2);
    reported.entries.notify(FIRST, true, 3);
    reported.read(3, false);
    expect(placement).to.deep.equal([false, true]);
    reported.read(4, false);
    expect(placement).to.deep.equal([false, true, 'ENTRY_LOST']);
  });

  it('stays admitted when a late response reports it as waiting', () => {
    const first = reported.place();
    reported.entries.notify(FIRST, true, 1);
    expect(reported.place()).to.deep.equal([false, true]);
    expect([first, [...reported.entries.waiting]]).to.deep.equal([[false, true], []]);
  });

  it('is admitted for all subscribers when a later response reports it as admitted', () => {
    const first = reported.place();
    expect(reported.place({ turn: OWNS })).to.deep.equal([true]);
    expect([first, reported.entries.anyWaits]).to.deep.equal([[false, true], false]);
  });

  it('is tracked until it leaves or the session ends', () => {
    const left = reported.place();
    expect(reported.entries.remove('a', 'i')).to.include({ ord: 1 });
    expect([reported.entries.has(FIRST), reported.entries.remove('a', 'i')]).to.deep.equal([
      false,
      undefined,
    ]);
    const ended = reported.place({ ord: 2 });
    reported.entries.endSession();
    expect([left, ended, reported.entries.size]).to.deep.equal([
      [false, 'ENTRY_LOST'],
      [false, 'SESSION_LOST'],
      0,
    ]);
  });
});
