import { expect } from 'chai';
import { Entry } from '../src/entry/entry.ts';
import { MAX_REMOVALS } from '../src/entry/leaving.ts';
import { Successors } from '../src/turn/successors.ts';
import { creationIdOf } from '../src/entry/creation-id.ts';
import { newSpec } from './clients.ts';

type Notification = readonly [at: bigint, now: boolean];

describe('successors of an entry in the same etcd session', () => {
  let store: { revision: bigint };
  let generation: { isExported: boolean };
  let successors: Successors;
  let notified: Notification[];

  beforeEach(() => {
    store = { revision: 100n };
    generation = { isExported: false };
    successors = new Successors({ connection: store, generation });
    notified = [];
  });

  /** Creates an entry that holds the lock, and that a waiter of this process follows. */
  function owner(order: bigint, grantToken?: bigint): Entry {
    const origin = { prefix: '', lease: '1', revision: 0n, resumedAt: 0n, isFast: false, keyId: `${order}` };
    return Object.assign(new Entry(newSpec('q'), origin), { order, grantToken, owned: true, followed: true });
  }

  /** Registers a successor for the entry `ahead`, with the given order number. Returns a function that unregisters it. */
  function addBehind(ahead: Entry, order: bigint): () => void {
    const notify = (at: bigint, now: boolean): void => {
      notified.push([at, now]);
    };
    const creation = creationIdOf(ahead)!;
    const successor = { entry: owner(order), notify };
    successors.register(creation, successor);
    return () => {
      successors.unregister(creation, successor);
    };
  }

  it('get a fencing token that is larger than that of the holder', () => {
    const [first, second] = [owner(1n, 1n), owner(2n, 50n)];
    addBehind(first, 9n);
    addBehind(second, 10n);
    successors.handOver(first);
    successors.handOver(second);
    expect(notified).to.deep.equal([
      [9n, true],
      [51n, true],
    ]);
  });

  it("are not granted before the holder's removal is confirmed if the holder has no fencing token", () => {
    const [first, second] = [owner(1n, 100n), owner(2n)];
    addBehind(first, 9n);
    addBehind(second, 10n);
    successors.handOver(first);
    successors.handOver(second);
    expect(notified).to.deep.equal([]);
  });

  it("are not granted early when another client removed the holder's entry", () => {
    const [removed, left] = [owner(1n, 1n), owner(2n, 2n)];
    addBehind(removed, 9n);
    addBehind(left, 10n)();
    removed.lose();
    successors.handOver(removed);
    successors.handOver(left);
    expect(notified).to.deep.equal([]);
  });

  it("are not granted before the holder's removal is confirmed if the caller has read the holder's key", () => {
    const [read, exported] = [owner(1n, 1n), owner(2n, 2n)];
    addBehind(read, 9n);
    addBehind(exported, 10n);
    expect(successors.exposeKey(read)).to.equal(true);
    successors.handOver(read);
    generation.isExported = true;
    successors.handOver(exported);
    expect(notified).to.deep.equal([]);
  });

  it("hide the holder's key from the caller until the holder's removal is confirmed", () => {
    const ahead = owner(1n, 1n);
    addBehind(ahead, 9n);
    successors.handOver(ahead);
    expect(successors.exposeKey(ahead)).to.equal(false);
    successors.confirm(ahead);
    expect(successors.exposeKey(ahead)).to.equal(true);
  });

  it('are not granted early while as many removals as one transaction can contain are unconfirmed', () => {
    const queue = Array.from({ length: MAX_REMOVALS + 2 }, (_, i) => owner(BigInt(i + 1), BigInt(i + 1)));
    store.revision = 1_000n;
    for (const [i, ahead] of queue.entries()) addBehind(ahead, BigInt(i + 2));
    for (const ahead of queue.slice(0, MAX_REMOVALS + 1)) successors.handOver(ahead);
    expect(notified.filter(([, now]) => now)).to.have.length(MAX_REMOVALS);
    expect(notified.at(-1)).to.deep.equal([BigInt(MAX_REMOVALS + 2), false]);
    successors.confirm(queue[0]!);
    successors.handOver(queue.at(-1)!);
    expect(notified.at(-1)).to.deep.equal([BigInt(MAX_REMOVALS + 3), true]);
  });
});
