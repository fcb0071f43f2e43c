import { AsyncLocalStorage } from 'node:async_hooks';
import { expect } from 'chai';
import { Observable, type Subscription } from 'rxjs';
import { watchPosition, type LockClient, type Ownership } from '../src/index.ts';
import { onStage, type Stage } from './stage.ts';

/**
 * The asynchronous context of the test. It contains the name of the caller whose code runs, as a web server
 * stores the user of each request.
 */
const caller = new AsyncLocalStorage<string>();

/** A callback that a user can pass to the public interface. */
interface Callback {
  readonly name: string;
  /**
   * Registers a callback that calls `seen`. The test runs this in the asynchronous context of the caller Ann.
   */
  readonly register: (client: LockClient, seen: () => void, stage: Stage) => unknown;
  /** Makes the client call the callback. The test runs this in the asynchronous context of the caller Cid. */
  readonly trigger?: (scene: Scene) => unknown;
}

interface Scene {
  readonly client: LockClient;
  /** A hold of the lock "x" that belongs to the caller Ben. It uses the same client, session and watch. */
  readonly hold: Ownership;
  readonly stage: Stage;
}

const release = ({ hold }: Scene): Promise<void> => hold.release();
const close = ({ client }: Scene): Promise<void> => client.close();
const later = ({ stage }: Scene): Promise<void> => stage.clock.advance(60_000);

/** Subscribes to a stream until the end of the test. */
function each(stream$: Observable<unknown>, seen: () => void): void {
  stream$.subscribe({ next: seen, error: seen, complete: seen });
}

const subscriptions: Subscription[] = [];
const aborts: AbortController[] = [];

const callbacks: readonly Callback[] = [
  {
    name: 'onPosition',
    register: (client, seen) => {
      const ahead = caller.run('Dan', () => client.claim('x').subscribe());
      subscriptions.push(ahead);
      void client.run('x', () => undefined, { onPosition: seen }).catch(() => undefined);
    },
    trigger: () => subscriptions.pop()?.unsubscribe(),
  },
  {
    name: 'the work of run',
    register: (client, seen) => void client.run('x', seen),
    trigger: release,
  },
  {
    name: 'the stop signal of run, when the client closes',
    register: (client, seen) =>
      void client
        .run(
          'y',
          (_, stop) =>
            new Promise<void>((resolve) =>
              stop.addEventListener('abort', () => {
                seen();
                resolve();
              }),
            ),
        )
        .catch(() => undefined),
    trigger: ({ client }) => client.close({ drainMs: 1_000 }),
  },
  {
    name: 'the stop signal of run, when its own signal aborts',
    register: (client, seen) => {
      const stopping = new AbortController();
      aborts.push(stopping);
      const work = (_: unknown, stop: AbortSignal): Promise<void> =>
        new Promise((resolve) =>
          stop.addEventListener('abort', () => {
            seen();
            resolve();
          }),
        );
      void client.run('y', work, { stop: stopping.signal });
    },
    trigger: () => aborts.pop()?.abort(),
  },
  {
    name: 'the signal of a hold',
    register: async (client, seen) => (await client.acquire('y')).signal.addEventListener('abort', seen),
    trigger: close,
  },
  {
    name: 'the signal of a hold that may be entered again, by a later chain first',
    register: async (client, seen) => {
      const hold = await client.acquire('y', { reentrant: true });
      await caller.run('Dan', () => client.acquire('y', { reenter: hold, reentrant: true }));
      hold.signal.addEventListener('abort', seen);
    },
    trigger: close,
  },
  {
    name: 'the signal of a hold of several names',
    register: async (client, seen) =>
      (await client.multi(['y', 'z']).acquire()).signal.addEventListener('abort', seen),
    trigger: close,
  },
  {
    name: 'the signal of one of several names',
    register: async (client, seen) => {
      // The claim of the names "x" and "z" is granted when Ben releases his hold of "x".
      const hold = await client.multi(['x', 'z']).acquire();
      hold.of('x').signal.addEventListener('abort', seen);
    },
    trigger: async (scene) => {
      await release(scene);
      await scene.stage.settle();
      await close(scene);
    },
  },
  { name: 'claim', register: (client, seen) => each(client.claim('x'), seen), trigger: release },
  {
    name: 'claimWithPosition',
    register: (client, seen) => each(client.claimWithPosition('x'), seen),
    trigger: release,
  },
  {
    name: 'claimWithPosition, as a loop',
    register: async (client, seen) => {
      for await (const { status } of client.claimWithPosition('x')) {
        seen();
        if (status === 'held') break;
      }
    },
    trigger: release,
  },
  {
    name: 'the limit of a claim',
    register: (client, seen) => {
      const limit$ = new Observable<number>((subscriber) => {
        seen();
        subscriber.next(2);
        return seen;
      });
      void client.acquire('sem', { limit: limit$ });
    },
  },
  {
    name: 'claims of several names',
    register: (client, seen) => each(client.multi(['x', 'z']).claim(), seen),
    trigger: release,
  },
  {
    name: 'requests of waiters',
    register: async (client, seen) => each((await client.acquire('y')).requests$, seen),
    trigger: ({ client }) => {
      subscriptions.push(client.claim('y', { request: { reason: 'hurry', withinMs: 1_000 } }).subscribe());
    },
  },
  { name: 'watch', register: (client, seen) => each(client.watch('x'), seen), trigger: release },
  { name: 'queues', register: (client, seen) => each(client.queues(), seen), trigger: release },
  {
    name: 'watchPosition',
    register: (client, seen) => {
      void client.acquire('x', { id: '0'.repeat(32) }).catch(() => undefined);
      each(watchPosition(client, 'x', { id: '0'.repeat(32) }), seen);
    },
    trigger: release,
  },
  {
    name: 'watchPosition of an entry that does not appear',
    register: (client, seen) => each(watchPosition(client, 'x', { id: 'none', appearsWithinMs: 10 }), seen),
    trigger: later,
  },
  {
    name: 'evictions',
    register: (client, seen) => each(client.evictions('x'), seen),
    trigger: ({ client, hold }) => {
      const { key, order, id } = hold;
      return client.evict('x', { key, order, id, owner: 'ben' }, { reason: 'it is stuck' });
    },
  },
  { name: 'session$', register: (client, seen) => each(client.session$, seen), trigger: close },
  {
    name: 'the state of a register',
    register: (client, seen) => each(client.register('x', 'note').state$, seen),
    trigger: ({ client }) => client.register('x', 'note').change(() => 'text'),
  },
  {
    name: 'the change of a register',
    register: (client, seen) =>
      client.register('x', 'note').change(() => {
        seen();
        return 'text';
      }),
  },
];
describe('a callback or stream of a caller', () => {
  for (const { name, register, trigger } of callbacks)
    it(`runs in the asynchronous context of the caller that registered it: ${name}`, () =>
      onStage(async (stage) => {
        const client = stage.client();
        const seen: (string | undefined)[] = [];
        const see = (): void => void seen.push(caller.getStore());
        // Ben uses the client first, so the shared session and watches are created in Ben's context.
        const hold = await caller.run('Ben', async () => {
          subscriptions.push(
            client.watch('x').subscribe(),
            client.session$.subscribe(),
            client.queues().subscribe(),
          );
          return stage.passing(client.acquire('x'));
        });
        caller.run('Ann', () => register(client, see, stage));
        await stage.settle();
        const before = seen.length;
        await caller.run('Cid', () => stage.passing(Promise.resolve(trigger?.({ client, hold, stage }))));
        await caller.run('Cid', () => stage.clock.advance(1_000));
        if (trigger) expect(seen.length, 'was called because of another caller').to.be.above(before);
        expect(new Set(seen)).to.deep.equal(new Set(['Ann']));
        for (const subscription of subscriptions.splice(0)) subscription.unsubscribe();
      }));

  it('runs each subscriber in the async context in which it subscribed', () =>
    onStage(async (stage) => {
      const client = stage.client();
      const queue$ = client.watch('x');
      const seen: string[] = [];
      for (const name of ['Ann', 'Ben'])
        caller.run(name, () =>
          subscriptions.push(queue$.subscribe(() => seen.push(`${name} as ${String(caller.getStore())}`))),
        );
      await caller.run('Cid', () => stage.passing(client.acquire('x')));
      expect(new Set(seen)).to.deep.equal(new Set(['Ann as Ann', 'Ben as Ben']));
      for (const subscription of subscriptions.splice(0)) subscription.unsubscribe();
    }));

  it('is subscribed to in the async context of the call that passed it as `limit`', () =>
    onStage(async (stage) => {
      const client = stage.client();
      const seen: (string | undefined)[] = [];
      const limit$ = new Observable<number>((subscriber) => {
        seen.push(caller.getStore());
        subscriber.next(1);
      });
      const theirs = caller.run('Ben', () => client.acquire('x'));
      const own = caller.run('Ann', () => client.acquire('sem', { limit: limit$ }));
      await stage.passing(Promise.all([theirs, own]));
      expect(new Set(seen)).to.deep.equal(new Set(['Ann']));
    }));
});
