import { expect } from 'chai';
import { Entry } from '../src/entry/entry.ts';
import { MAX_LEAVERS } from '../src/entry/leaving.ts';
import { Successors } from '../src/turn/successors.ts';
import { lifeIn } from '../src/turn/owning.ts';
import { wish } from './clients.ts';

type Heard = readonly [at: bigint, now: boolean];

describe('successors of an entry in the same etcd session', () => {
  let store: { revision: bigint };
  let generation: { isExported: boolean };
  let successors: Successors;
  let heard: Heard[];

  beforeEach(() => {
    store = { revision: 100n };
    generation = { isExported: false };
    successors = new Successors({ connection: store, generation });
    heard = [];
  });

  /** Creates an owner with a waiter that was granted at that revision. */
  function owner(order: bigint, grantToken?: bigint): Entry {
    const origin = { prefix: '', lease: '1', revision: 0n, resumedAt: 0n, isFast: false, keyId: `${order}` };
    return Object.assign(new Entry(wish('q'), origin), { order, grantToken, owned: true, followed: true });
  }

  /** Adds a successor right behind an entry; returns a function that removes it. */
  function standBehind(ahead: Entry, order: bigint): () => void {
    const notify = (at: bigint, now: boolean): void => {
      heard.push([at, now]);
    };
    return successors.stand(lifeIn(ahead)!, { entry: owner(order), notify });
  }

  it('are notified of their admission with a revision that is larger than the one before, and at least their own order', () => {
    const [first, second] = [owner(1n, 1n), owner(2n, 50n)];
    standBehind(first, 9n);
    standBehind(second, 10n);
    successors.handOver(first);
    successors.handOver(second);
    expect(heard).to.deep.equal([
      [9n, true],
      [51n, true],
    ]);
  });

  it('are not notified when the store may not have had such a revision, or none was reported', () => {
    const [first, second] = [owner(1n, 100n), owner(2n)];
    standBehind(first, 9n);
    standBehind(second, 10n);
    successors.handOver(first);
    successors.handOver(second);
    expect(heard).to.deep.equal([]);
  });

  it('are not notified when another client removed the entry, or when they have left', () => {
    const [removed, left] = [owner(1n, 1n), owner(2n, 2n)];
    standBehind(removed, 9n);
    standBehind(left, 10n)();
    removed.lose();
    successors.handOver(removed);
    successors.handOver(left);
    expect(heard).to.deep.equal([]);
  });

  it('are not notified when the key of the entry was read, or after the session was exported', () => {
    const [read, exported] = [owner(1n, 1n), owner(2n, 2n)];
    standBehind(read, 9n);
    standBehind(exported, 10n);
    expect(successors.exposeKey(read)).to.equal(true);
    successors.handOver(read);
    generation.isExported = true;
    successors.handOver(exported);
    expect(heard).to.deep.equal([]);
  });

  it('have replaced the entry ahead until its removal is confirmed, and hide its key meanwhile', () => {
    const ahead = owner(1n, 1n);
    standBehind(ahead, 9n);
    successors.handOver(ahead);
    expect(successors.exposeKey(ahead)).to.equal(false);
    successors.confirm(ahead);
    expect(successors.exposeKey(ahead)).to.equal(true);
  });

  it('wait for the removal when a full batch of removals is ahead of theirs', () => {
    const line = Array.from({ length: MAX_LEAVERS + 2 }, (_, i) => owner(BigInt(i + 1), BigInt(i + 1)));
    store.revision = 1_000n;
    for (const [i, ahead] of line.entries()) standBehind(ahead, BigInt(i + 2));
    for (const ahead of line.slice(0, MAX_LEAVERS + 1)) successors.handOver(ahead);
    expect(heard.filter(([, now]) => now)).to.have.length(MAX_LEAVERS);
    expect(heard.at(-1)).to.deep.equal([BigInt(MAX_LEAVERS + 2), false]);
    successors.confirm(line[0]!);
    successors.handOver(line.at(-1)!);
    expect(heard.at(-1)).to.deep.equal([BigInt(MAX_LEAVERS + 3), true]);
  });
});
