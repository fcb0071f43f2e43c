import * as kinds from './kinds.ts';
import type { Kind } from './kinds.ts';
import { alike, amongOurs, each, twice } from './parties.ts';
import type { Rows } from './row.ts';

const { ours, oursElection, oursObserver, oursReader, oursVisitor } = kinds;
const { curatorMutex, curatorSelector, curatorReader, curatorWriter, curatorLatch } = kinds;
const { kazooCurator, kazooCuratorWriter, kazooLock, kazooWriter } = kinds;
const readsAndWrites = (of: Kind): Kind => kinds.named('curator-read-write', of);
const kazoo = (of: Kind): Kind => kinds.named('kazoo', of);
const both = (of: Kind): Kind => kinds.named('curator+kazoo', of);
const latch = (of: Kind): Kind => kinds.named('curator-latch', of);

export const zooKeeper: Rows = {
  mixes: [
    {
      title: 'one queuelock client among six participants',
      parties: [...each(ours, curatorSelector), ...twice(curatorMutex, kazooCurator)],
      short: true,
    },
    {
      title: 'five queuelock clients and one Curator mutex, beside a client that only tries',
      parties: [{ kind: ours, count: 4 }, ...each(oursElection, curatorMutex, oursVisitor)],
      short: true,
    },
    ...[curatorSelector, kazooCurator].map(amongOurs),
    {
      title: 'readers and writers of queuelock, Curator and kazoo with Curator’s node names',
      parties: [
        ...each(readsAndWrites(ours), curatorWriter, kazooCuratorWriter, curatorReader),
        ...twice(readsAndWrites(oursReader)),
      ],
      short: true,
    },
    {
      title: 'readers and writers: one queuelock client among six participants',
      parties: [
        ...each(readsAndWrites(oursReader), kazooCuratorWriter),
        ...twice(curatorReader, curatorWriter),
      ],
    },
    {
      title: 'kazoo’s node names: one queuelock client among six participants',
      parties: [{ kind: kazooLock, count: 3 }, ...each(kazoo(ours), kazooWriter, kinds.curatorTaughtKazoo)],
      short: true,
    },
    {
      title: 'kazoo’s node names: five queuelock clients among six participants',
      parties: [{ kind: kazoo(ours), count: 5 }, ...each(kazooLock)],
    },
    {
      title: 'queuelock’s readers and kazoo’s writers with kazoo’s node names',
      parties: [{ kind: kazooWriter, count: 2 }, ...twice(kazoo(oursReader), kazoo(ours))],
    },
    {
      title: 'clients that accept both Curator’s and kazoo’s node names',
      parties: twice(both(ours), kinds.curatorTaughtBoth, kinds.kazooExtra),
      short: true,
    },
    {
      title: 'a semaphore of 2 permits: one queuelock client among six participants',
      parties: [
        { kind: kinds.oursSemaphore(2), count: 1 },
        { kind: kinds.curatorSemaphore(2), count: 5 },
      ],
      permits: 2,
    },
    {
      title: 'a semaphore of 2 permits: five queuelock clients among six participants',
      parties: [
        { kind: kinds.oursSemaphore(2), count: 5 },
        { kind: kinds.curatorSemaphore(2), count: 1 },
      ],
      permits: 2,
      short: true,
    },
    {
      title: 'queuelock and Curator’s LeaderLatch in one queue',
      parties: [
        { kind: latch(ours), count: 2 },
        ...each(latch(oursElection)),
        { kind: curatorLatch, count: 3 },
      ],
    },
  ],
  lines: [
    {
      title: 'a mutex with Curator’s node names',
      pairs: [{ holder: oursVisitor }, ...alike(curatorMutex, ours, kazooCurator, curatorSelector)],
      last: ours,
      short: true,
    },
    {
      title: 'pairs of a reader and a writer with Curator’s node names',
      pairs: [
        { holder: curatorReader, waiter: curatorWriter },
        { holder: readsAndWrites(ours), waiter: readsAndWrites(oursReader) },
        { holder: curatorWriter, waiter: curatorReader },
        { holder: readsAndWrites(oursReader), waiter: readsAndWrites(ours) },
        { holder: kazooCuratorWriter, waiter: kazooCuratorWriter },
      ],
      last: readsAndWrites(ours),
    },
    {
      title: 'a mutex with kazoo’s node names',
      pairs: alike(kazooLock, kazoo(ours), kinds.curatorTaughtKazoo),
      last: kazoo(ours),
    },
    {
      title: 'a mutex with both Curator’s and kazoo’s node names',
      pairs: alike(both(ours), kinds.curatorTaughtBoth, kinds.kazooExtra),
      last: both(ours),
    },
    {
      title: 'a semaphore of Curator and queuelock',
      pairs: alike(kinds.curatorSemaphore(1), kinds.oursSemaphore(1)),
      last: kinds.oursSemaphore(1),
      permits: 1,
    },
    {
      title: 'a latch of Curator and queuelock',
      pairs: alike(curatorLatch, latch(oursElection)),
      last: latch(ours),
    },
  ],
  elections: [
    {
      title: 'elections of queuelock, Curator’s selector, and kazoo with Curator’s node names',
      candidates: [oursElection, curatorSelector, kazooCurator],
      observers: [oursObserver, kinds.selectorObserver],
    },
    {
      title: 'elections of queuelock and Curator’s latch',
      candidates: [latch(oursElection), curatorLatch],
      observers: [latch(oursObserver), kinds.latchObserver],
    },
    {
      title: 'elections of queuelock and kazoo',
      candidates: [kazoo(oursElection), kazooLock],
      observers: [kazoo(oursObserver)],
    },
  ],
};
