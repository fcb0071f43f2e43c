import { LocalWaiters, type Departure } from '@queuelock/core/backend';
import { expect } from 'chai';
import type { IEvent } from '../src/protocol/messages.ts';
import { NEVER, Subject, filter, firstValueFrom } from 'rxjs';
import { creationId, type ConflictingEntry } from '../src/queue/ahead.ts';
import { watchConflictEnd, type Waiter } from '../src/turn/conflict-end.ts';
import { watchRemoval } from '../src/turn/watch-removal.ts';
import { Successors } from '../src/turn/successors.ts';
import type { KeyState } from '../src/server/lookups.ts';
import type { WatchNotification } from '../src/server/watches.ts';
import { watchesOver } from './watches-over.ts';

const KEY = Buffer.from('q/1-0123456789abcdef0123456789abcdef');
const LABEL = JSON.stringify({ owner: 'worker', metadata: {} });
const NOTED = `${LABEL.slice(0, -1)},"owned":true}`;

/**
 * The entry for which the waiter waits. Its key was created at revision 20, after an earlier entry with the
 * same key was deleted at revision 15.
 */
const conflicting: ConflictingEntry = {
  key: KEY,
  createRevision: '20',
  permits: 1,
  limit: 1,
  mayAnnounce: true,
};

function put(created: number, changed = created, value = LABEL): IEvent {
  const revisions = { create_revision: String(created), mod_revision: String(changed), version: '1' };
  const kv = { key: KEY, value: Buffer.from(value), lease: '1', ...revisions };
  return { type: 'Put', kv, prev_kv: kv };
}

function deleted(at: number): IEvent {
  const { kv } = put(0, at);
  return { type: 'Delete', kv, prev_kv: kv };
}

function successors(): Successors {
  return new Successors({ connection: { revision: 0n }, generation: { isExported: false } });
}

describe('the removal of an etcd entry whose key had earlier entries', () => {
  let notifications$: Subject<WatchNotification>;
  let followed: LocalWaiters;
  let status: Waiter;
  let isOfSameSession: boolean;
  let reply: (seen: KeyState) => void;

  beforeEach(() => {
    notifications$ = new Subject();
    followed = new LocalWaiters();
    isOfSameSession = false;
    status = {
      context: {
        watches: watchesOver(() => notifications$),
        lookups: { read: () => new Promise<KeyState>((resolve) => (reply = resolve)) },
        compactions: { compacted$: NEVER, add: () => undefined, delete: () => undefined },
        followed,
        successors: successors(),
      },
      rule: { limit: 1, permits: 1 },
      entry: { isOfSameSession: () => isOfSameSession },
    } as unknown as Waiter;
  });

  const report = (...events: readonly IEvent[]): void => notifications$.next({ status: 'events', events });

  function departures(): (Departure | undefined)[] {
    const reported: (Departure | undefined)[] = [];
    const next = (departure: Departure | undefined): void => void reported.push(departure);
    const watch = watchConflictEnd(conflicting, status, true).subscribe({
      next,
      complete: () => watch.unsubscribe(),
    });
    return reported;
  }

  it('is reported by the event of its deletion', () => {
    const reported = departures();
    report(deleted(30));
    expect(reported).to.deep.equal([{ owned: false, at: 30n }]);
  });

  it('is not reported when a late event shows the deletion of an earlier entry', async () => {
    const reported = departures();
    const ends: bigint[] = [];
    watchRemoval(conflicting, status.context).subscribe({ next: (at) => void ends.push(at) });
    notifications$.next({ status: 'live' });
    report(put(10), deleted(15), put(20));
    reply({ exists: true, revision: 25n });
    await new Promise(setImmediate);
    expect([reported, ends]).to.deep.equal([[], []]);
    report(deleted(30));
    expect([reported, ends]).to.deep.equal([[{ owned: false, at: 30n }], [30n]]);
  });

  it('is concluded from the next creation of the key when the deletion event was lost', () => {
    const reported = departures();
    report(put(20, 25));
    expect(reported).to.deep.equal([]);
    report(put(40));
    expect(reported).to.deep.equal([{ owned: false, at: 40n }]);
  });

  it('shows an exclusive hold if the label of this entry announced it, but not of an earlier entry', () => {
    const [reported, other] = [departures(), departures()];
    report(put(10, 12, NOTED), deleted(15), put(20), put(20, 25), deleted(30));
    expect(reported).to.deep.equal([{ owned: false, at: 30n }]);
    expect(other).to.deep.equal(reported);
    const noted = departures();
    report(put(20, 25, NOTED), deleted(30));
    expect(noted).to.deep.equal([{ owned: true, at: 30n }]);
  });

  it("shows an exclusive hold if the waiter's process recorded that this entry held", () => {
    const reported = departures();
    expect(followed.markOwned(creationId({ key: KEY, createRevision: '10' }))).to.equal(false);
    expect(followed.markOwned(creationId({ key: KEY, createRevision: '40' }))).to.equal(false);
    report(deleted(30));
    expect(reported).to.deep.equal([{ owned: false, at: 30n }]);
    const owner = departures();
    expect(followed.markOwned(creationId(conflicting))).to.equal(true);
    report(deleted(30));
    expect(owner).to.deep.equal([{ owned: true, at: 30n }]);
  });

  it('makes a waiter of the same session read the queue if that session did not remove the entry', () => {
    isOfSameSession = true;
    const reported = departures();
    report(put(20, 25, NOTED), deleted(30));
    expect(reported).to.deep.equal([undefined]);
    const taken = departures();
    followed.markLeaving(creationId(conflicting));
    report(deleted(30));
    expect(taken).to.deep.equal([{ owned: false, at: 30n }]);
  });
});

describe('a watch that starts during a write', () => {
  /**
   * Creates a waiter with simulated reads of its queue. The reads return revisions from 26 on, and find the
   * entry ahead until the test sets `isThere` to false.
   */
  function waiting(isSoon = true): {
    readonly news$: Subject<WatchNotification>;
    readonly departures: (Departure | undefined)[];
    readonly looks: () => number;
    readonly looked: (times: number) => Promise<void>;
    isThere: boolean;
  } {
    const news$ = new Subject<WatchNotification>();
    const requested$ = new Subject<number>();
    const departures: (Departure | undefined)[] = [];
    let reads = 0;
    const here = {
      ...{ news$, departures, isThere: true },
      looks: () => reads,
      looked: async (times: number) => {
        await firstValueFrom(requested$.pipe(filter((count) => count >= times)));
      },
    };
    const readState = (): Promise<KeyState> => {
      reads += 1;
      requested$.next(reads);
      return Promise.resolve({ exists: here.isThere, revision: BigInt(25 + reads) });
    };
    const status = {
      context: {
        watches: watchesOver(() => news$),
        lookups: { read: readState },
        compactions: { compacted$: NEVER, add: () => undefined, delete: () => undefined },
        followed: new LocalWaiters(),
        successors: successors(),
      },
      entry: { isOfSameSession: () => false },
    } as unknown as Waiter;
    const next = (departure: Departure | undefined): void => void departures.push(departure);
    watchConflictEnd(conflicting, status, isSoon).subscribe({ next });
    return here;
  }

  it('makes a waiter near the front of the queue read a few more times', async () => {
    const waiter = waiting();
    const thrice = waiter.looked(3);
    waiter.news$.next({ status: 'live', revision: '25' });
    await thrice;
    expect(waiter.departures).to.deep.equal([]);
    waiter.isThere = false;
    await waiter.looked(4);
    await new Promise(setImmediate);
    expect(waiter.departures).to.deep.equal([{ owned: false, at: 29n }]);
  });

  it('causes no further reads if many entries are ahead of the waiter', async () => {
    const others = [waiting(), waiting(false)];
    const [certain, far] = others;
    const waiter = waiting();
    const again = waiter.looked(4);
    certain!.news$.next({ status: 'live', revision: '26' });
    far!.news$.next({ status: 'live', revision: '25' });
    waiter.news$.next({ status: 'live', revision: '25' });
    await again;
    expect(others.map(({ looks }) => looks())).to.deep.equal([1, 1]);
  });

  it('causes no further reads of a waiter that has left', async () => {
    const [removed, waiter] = [waiting(), waiting()];
    const again = waiter.looked(4);
    for (const { news$ } of [removed, waiter]) news$.next({ status: 'live', revision: '25' });
    removed.news$.next({ status: 'events', events: [deleted(30)] });
    await again;
    expect(removed.departures).to.deep.equal([{ owned: false, at: 30n }]);
    expect(removed.looks()).to.equal(1);
  });
});
