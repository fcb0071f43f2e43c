import { setImmediate as nextTurn } from 'node:timers/promises';
import { QueueLockError } from '@queuelock/core/backend';
import { expect } from 'chai';
import { NEVER, Subject } from 'rxjs';
import type { NodeChange, Step, TransactionResult, ZkDriver } from '../src/driver/driver.ts';
import { RemovalBatcher } from '../src/driver/removal-batcher.ts';
import { Watches } from '../src/server/watches.ts';
import type { Waiter } from '../src/turn/conflict-end.ts';
import { OwnRemoval } from '../src/turn/own-removal.ts';
import { outcome } from './bench.ts';

const ALL_DONE: TransactionResult = { done: true, paths: [] };

/** A simulated server on which all nodes exist. It replies to each transaction with `multi`. */
function serverThat(multi?: () => Promise<TransactionResult>): { removals: RemovalBatcher; sent: string[] } {
  const sent: string[] = [];
  const note = (paths: readonly string[]): void => void sent.push(paths.join('+'));
  const zk: Pick<ZkDriver, 'delete' | 'multi'> = {
    delete: async (path) => {
      note([path]);
      return true;
    },
    ...(multi && {
      multi: (steps: readonly Step[]) => {
        note(steps.map(({ path }) => path));
        return multi();
      },
    }),
  };
  return { removals: new RemovalBatcher(zk as ZkDriver), sent };
}

describe('removals of ZooKeeper nodes', () => {
  const both = (removals: RemovalBatcher): Promise<boolean[]> =>
    Promise.all(['a', 'b'].map((path) => removals.delete(path)));

  it('are sent as one request when they were requested in one tick of the event loop', async () => {
    const { removals, sent } = serverThat(async () => ALL_DONE);
    expect(await both(removals)).to.deep.equal([true, true]);
    expect(sent).to.deep.equal(['a+b']);
  });

  it('are sent as separate requests when they were requested in different ticks of the event loop', async () => {
    const { removals, sent } = serverThat(async () => ALL_DONE);
    const first = removals.delete('a');
    await nextTurn();
    expect(await Promise.all([first, removals.delete('b')])).to.deep.equal([true, true]);
    expect(sent).to.deep.equal(['a', 'b']);
  });

  it('are sent separately when the driver has no transactions', async () => {
    const { removals, sent } = serverThat();
    expect(await both(removals)).to.deep.equal([true, true]);
    expect(sent).to.deep.equal(['a', 'b']);
  });

  it('are sent separately when a node is missing or must not be deleted', async () => {
    const refused = new QueueLockError('ACCESS_DENIED', 'not yours');
    for (const reply of [
      async (): Promise<TransactionResult> => ({ done: false, at: 0, reason: 'missing' }),
      () => Promise.reject(refused),
    ]) {
      const { removals, sent } = serverThat(reply);
      expect(await both(removals)).to.deep.equal([true, true]);
      expect(sent).to.deep.equal(['a+b', 'a', 'b']);
    }
  });

  it('have an unknown outcome when no reply came', async () => {
    const { removals, sent } = serverThat(() => Promise.reject(new QueueLockError('UNAVAILABLE', 'silent')));
    const ended = await Promise.all(['a', 'b'].map((path) => outcome(removals.delete(path))));
    expect(ended).to.deep.equal(['UNAVAILABLE', 'UNAVAILABLE']);
    expect(sent).to.deep.equal(['a+b']);
  });

  it('are at most 60 in one request', async () => {
    const { removals, sent } = serverThat(async () => ALL_DONE);
    await Promise.all(Array.from({ length: 130 }, (_, at) => removals.delete(`${at}`)));
    expect(sent.map((paths) => paths.split('+').length)).to.deep.equal([60, 60, 10]);
  });
});

describe('the watch of an own ZooKeeper entry', () => {
  it('does not start on another node when it is unsubscribed during the notification of a removal', async () => {
    const changes = new Subject<NodeChange>();
    const watched: string[] = [];
    const zk = {
      sessionId: '1',
      connection$: NEVER,
      ended$: NEVER,
      changes: (path: string) => (watched.push(path), changes),
      read: async () => ({ version: 0 }),
    };
    const watches = new Watches(zk as unknown as ZkDriver);
    const entry = { path: '/writer' };
    const own = new OwnRemoval({ context: { watches }, entry, path: '/writer' } as unknown as Waiter);
    const seen: unknown[] = [];
    watches.add('/writer', { next: () => own.unsubscribe(), error: () => undefined });
    own.subscribe({ next: (removal) => seen.push(removal) });
    await nextTurn();
    entry.path = '/reader';
    changes.next('deleted');
    expect([watched, seen]).to.deep.equal([['/writer'], []]);
  });
});
