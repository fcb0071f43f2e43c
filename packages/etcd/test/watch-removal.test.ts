import { LocalWaiters, type Departure } from '@queuelock/core/backend';
import { expect } from 'chai';
import type { IEvent } from '../src/protocol/messages.ts';
import { NEVER, Subject, filter, firstValueFrom } from 'rxjs';
import { lifeOf, type ConflictingEntry } from '../src/queue/ahead.ts';
import { watchRemoval, watchConflictEnd, type Waiter } from '../src/turn/watch-removal.ts';
import { Successors } from '../src/turn/successors.ts';
import type { Seen } from '../src/server/lookups.ts';
import type { WatchNews } from '../src/server/watches.ts';

const KEY = Buffer.from('q/1-0123456789abcdef0123456789abcdef');
const LABEL = JSON.stringify({ owner: 'somebody', metadata: {} });
const NOTED = `${LABEL.slice(0, -1)},"owned":true}`;

/** One of several lives of a key; created at 20, after one that was deleted at 15. */
const rival: ConflictingEntry = { key: KEY, createRevision: '20', permits: 1, limit: 1, mayTell: true };

function put(created: number, changed = created, value = LABEL): IEvent {
  const revisions = { create_revision: String(created), mod_revision: String(changed), version: '1' };
  const kv = { key: KEY, value: Buffer.from(value), lease: '1', ...revisions };
  return { type: 'Put', kv, prev_kv: kv };
}

function deleted(at: number): IEvent {
  const { kv } = put(0, at);
  return { type: 'Delete', kv, prev_kv: kv };
}

describe('the end of one life of a key', () => {
  let news$: Subject<WatchNews>;
  let followed: LocalWaiters;
  let sight: Waiter;
  let isOfSameSession: boolean;
  let answer: (seen: Seen) => void;

  beforeEach(() => {
    news$ = new Subject();
    followed = new LocalWaiters();
    isOfSameSession = false;
    sight = {
      watches: { watch: () => news$ },
      lookups: { look: () => new Promise<Seen>((resolve) => (answer = resolve)) },
      compactions: { compacted$: NEVER },
      followed,
      successors: new Successors({ connection: { revision: 0n }, generation: { isExported: false } }),
      rule: { limit: 1, permits: 1 },
      entry: { isOfSameSession: () => isOfSameSession },
    } as unknown as Waiter;
  });

  const tell = (...events: readonly IEvent[]): void => news$.next({ status: 'events', events });

  function departures(): (Departure | undefined)[] {
    const told: (Departure | undefined)[] = [];
    watchConflictEnd(rival, sight, true).subscribe((departure) => told.push(departure));
    return told;
  }

  it('is its deletion', () => {
    const told = departures();
    tell(deleted(30));
    expect(told).to.deep.equal([{ owned: false, at: 30n }]);
  });

  it('is no deletion of an earlier life, of which a member tells that lags behind', async () => {
    const told = departures();
    const ends: bigint[] = [];
    watchRemoval(rival, sight).subscribe((at) => ends.push(at));
    news$.next({ status: 'live' });
    tell(put(10), deleted(15), put(20));
    answer({ there: true, revision: 25n });
    await new Promise(setImmediate);
    expect([told, ends]).to.deep.equal([[], []]);
    tell(deleted(30));
    expect([told, ends]).to.deep.equal([[{ owned: false, at: 30n }], [30n]]);
  });

  it('is known from the next life, where its deletion was lost', () => {
    const told = departures();
    tell(put(20, 25));
    expect(told).to.deep.equal([]);
    tell(put(40));
    expect(told).to.deep.equal([{ owned: false, at: 40n }]);
  });

  it('tells that it has owned the queue by its own note only', () => {
    const [told, other] = [departures(), departures()];
    tell(put(10, 12, NOTED), deleted(15), put(20), put(20, 25), deleted(30));
    expect(told).to.deep.equal([{ owned: false, at: 30n }]);
    expect(other).to.deep.equal(told);
    const noted = departures();
    tell(put(20, 25, NOTED), deleted(30));
    expect(noted).to.deep.equal([{ owned: true, at: 30n }]);
  });

  it('tells that it has owned the queue when its own process said so of this life', () => {
    const told = departures();
    expect(followed.markOwned(lifeOf({ key: KEY, createRevision: '10' }))).to.equal(false);
    expect(followed.markOwned(lifeOf({ key: KEY, createRevision: '40' }))).to.equal(false);
    tell(deleted(30));
    expect(told).to.deep.equal([{ owned: false, at: 30n }]);
    const owner = departures();
    expect(followed.markOwned(lifeOf(rival))).to.equal(true);
    tell(deleted(30));
    expect(owner).to.deep.equal([{ owned: true, at: 30n }]);
  });

  it('of the own session says nothing, unless that session is taking it out', () => {
    isOfSameSession = true;
    const told = departures();
    tell(put(20, 25, NOTED), deleted(30));
    expect(told).to.deep.equal([undefined]);
    const taken = departures();
    followed.markLeaving(lifeOf(rival));
    tell(deleted(30));
    expect(taken).to.deep.equal([{ owned: false, at: 30n }]);
  });
});

describe('a watch that begins while something is written', () => {
  /** Somebody who waits, whose looks are answered with revisions from 26 on: the rival is there. */
  function waiting(isSoon = true): {
    readonly news$: Subject<WatchNews>;
    readonly told: (Departure | undefined)[];
    readonly looks: () => number;
    readonly looked: (times: number) => Promise<void>;
    isThere: boolean;
  } {
    const news$ = new Subject<WatchNews>();
    const asked$ = new Subject<number>();
    const told: (Departure | undefined)[] = [];
    let looks = 0;
    const here = {
      ...{ news$, told, isThere: true },
      looks: () => looks,
      looked: async (times: number) => {
        await firstValueFrom(asked$.pipe(filter((count) => count >= times)));
      },
    };
    const look = (): Promise<Seen> => {
      looks += 1;
      asked$.next(looks);
      return Promise.resolve({ there: here.isThere, revision: BigInt(25 + looks) });
    };
    const sight = {
      watches: { watch: () => news$ },
      lookups: { look },
      compactions: { compacted$: NEVER },
      followed: new LocalWaiters(),
      entry: { isOfSameSession: () => false },
    } as unknown as Waiter;
    watchConflictEnd(rival, sight, isSoon).subscribe((departure) => told.push(departure));
    return here;
  }

  it('may be behind, so who may have its turn soon looks again a few times', async () => {
    const waiter = waiting();
    const thrice = waiter.looked(3);
    waiter.news$.next({ status: 'live', revision: '25' });
    await thrice;
    expect(waiter.told).to.deep.equal([]);
    waiter.isThere = false;
    await waiter.looked(4);
    await new Promise(setImmediate);
    expect(waiter.told).to.deep.equal([{ owned: false, at: 29n }]);
  });

  it('is not behind where nothing was written until a look, and matters to nobody whose turn is far away', async () => {
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

  it('is left alone by who has left', async () => {
    const [gone, waiter] = [waiting(), waiting()];
    const again = waiter.looked(4);
    for (const { news$ } of [gone, waiter]) news$.next({ status: 'live', revision: '25' });
    gone.news$.next({ status: 'events', events: [deleted(30)] });
    await again;
    expect(gone.told).to.deep.equal([{ owned: false, at: 30n }]);
    expect(gone.looks()).to.equal(1);
  });
});
