import { LocalWaiters } from '@queuelock/core/backend';
import { expect } from 'chai';
import { NEVER, Subject, concat, of } from 'rxjs';
import { Compactions } from '../src/server/compactions.ts';
import { Connection } from '../src/server/connection.ts';
import { watchRemoval } from '../src/turn/watch-removal.ts';
import { observeQueue } from '../src/views/observe.ts';
import { observeQueues } from '../src/views/queues.ts';
import { Lookups } from '../src/server/lookups.ts';
import { checkOptions } from '../src/api/options.ts';
import type { WatchNotification, Watches } from '../src/server/watches.ts';
import { eventually } from './clients.ts';
import { OwnServer } from './own-server.ts';
import { keyRequests } from './requests.ts';
import { watchesOver } from './watches-over.ts';

describe('events that etcd may have lost around a compaction', () => {
  const own = new OwnServer();
  let connection: Connection;
  let closed$: Subject<void>;
  let pauses = 0;

  beforeEach(async () => {
    pauses = 0;
    closed$ = new Subject();
    connection = new Connection(checkOptions({ hosts: own.server.endpoint, requestTimeoutMs: 10_000 }));
    const read = { key: Buffer.from('anything') };
    await connection.ask('reading', (etcd, options) => etcd.range(read, options));
  });
  afterEach(() => {
    closed$.next();
    connection.close();
  });

  function compactions(mayLose = true): Compactions {
    return new Compactions({
      connection,
      key: Buffer.from('unused'),
      mayLose: () => mayLose,
      closed$,
      intervalMs: () => {
        pauses += 1;
        return 20;
      },
    });
  }

  const reads = async (): Promise<number> => (await keyRequests(own.server.endpoint))['Range'] ?? 0;

  async function rounds(more: number): Promise<void> {
    const before = pauses;
    await eventually('it has asked', () => pauses >= before + more);
  }

  it('are detected by one small request in each periodic check, however many waiters there are', async () => {
    const { compacted$ } = compactions();
    const waiting = Array.from({ length: 100 }, () => compacted$.subscribe());
    const pausesBefore = pauses;
    const before = await keyRequests(own.server.endpoint);
    await rounds(10);
    await eventually('it was answered', async () => (await reads()) > (before['Range'] ?? 0));
    const { Range = 0, ...others } = await keyRequests(own.server.endpoint);
    expect(Range - (before['Range'] ?? 0)).to.be.at.most(pauses - pausesBefore + 1);
    expect({ Range: before['Range'], ...others }).to.deep.equal(before);
    for (const one of waiting) one.unsubscribe();
    const last = await reads();
    // Waits for the time of ten checks for a compaction, which this subscription counts. It sends no requests, because `compactions(false)` assumes a
    // version of etcd that loses no events.
    const counting = compactions(false).compacted$.subscribe();
    await rounds(10);
    counting.unsubscribe();
    expect((await reads()) - last, 'when no waiter is left').to.be.at.most(1);
  });

  it('make each waiter read the queue once after each compaction', async () => {
    let reported = 0;
    const waiting = compactions().compacted$.subscribe(() => (reported += 1));
    await rounds(3);
    expect(reported, 'before').to.equal(0);
    for (const count of [1, 2]) {
      await own.operator.put('history');
      await own.operator.compact();
      await eventually('the compaction is reported', () => reported === count);
      await rounds(3);
      expect(reported).to.equal(count);
    }
    waiting.unsubscribe();
  });

  it('cause no requests when no member has a version of etcd that loses events', async () => {
    const waiting = compactions(false).compacted$.subscribe();
    const before = await keyRequests(own.server.endpoint);
    await rounds(5);
    expect(await keyRequests(own.server.endpoint)).to.deep.equal(before);
    waiting.unsubscribe();
  });

  it('do not block a waiter for ever', async () => {
    const key = Buffer.from('lost');
    await own.operator.put('lost');
    const createRevision = String(await own.operator.createRevisionOf('lost'));
    // A fake watch that reports that it is live, and then delivers no event.
    const deaf$ = concat(of<WatchNotification>({ status: 'live' }), NEVER);
    const lookups = new Lookups(connection);
    let reads = 0;
    const read: Lookups['read'] = (ref) => lookups.read(ref).finally(() => (reads += 1));
    const status = {
      watches: watchesOver(() => deaf$),
      lookups: { read } as unknown as Lookups,
      compactions: compactions(),
      followed: new LocalWaiters(),
    };
    let at: bigint | undefined;
    const waiting = watchRemoval({ key, createRevision }, status).subscribe({
      next: (revision) => (at = revision),
    });
    await eventually('it has looked', () => reads === 1);
    await rounds(3);
    await own.operator.remove('lost');
    await rounds(5);
    expect(at, 'before the compaction').to.equal(undefined);
    await own.operator.compact();
    await eventually('it is found gone', () => at !== undefined);
    waiting.unsubscribe();
  });

  it('do not make observers show entries or queues that were removed', async () => {
    await own.operator.put('seen/there');
    await own.operator.put('seen/gone');
    const watches = {
      watch: () => concat(of<WatchNotification>({ status: 'live' }), NEVER),
    } as unknown as Watches;
    const sources = { connection, watches, compactions: compactions(), prefix: '' };
    const seen: { entries: readonly string[]; lists: number } = { entries: [], lists: 0 };
    const directories = { entries: 'seen/', marks: '.queuelock/shared/seen/' };
    const waiting = [
      observeQueue(sources, directories).subscribe(
        (entries) => (seen.entries = entries.map(({ key }) => key)),
      ),
      observeQueues(sources, 'seen').subscribe(() => (seen.lists += 1)),
    ];
    await eventually('all is seen', () => seen.entries.length === 2 && seen.lists === 1);
    await rounds(3);
    await own.operator.remove('seen/gone');
    await own.operator.compact();
    await eventually('it is seen', () => seen.entries.length === 1 && seen.lists === 2);
    expect(seen.entries).to.deep.equal(['seen/there']);
    for (const one of waiting) one.unsubscribe();
  });
});
