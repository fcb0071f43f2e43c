import { backendFromUrl } from '@queuelock/cli/src/backends.ts';
import type { AcquireOptions, Backend, LockClient, SharedOwnership } from '@queuelock/core';
import { consul } from '@queuelock/consul';
import { parseBackendUrl } from '@queuelock/core/backend';
import { curatorSemaphore, election } from '@queuelock/recipes';
import { zookeeper } from '@queuelock/zookeeper';
import { distinctUntilChanged, filter, map, type Subscription } from 'rxjs';

/** A hold of any kind, reduced to what a participant of the test needs from the grant to the release. */
export interface Held extends Pick<SharedOwnership, 'held' | 'signal' | 'order' | 'token' | 'key'> {
  leave(): Promise<void>;
}

interface Task {
  readonly client: LockClient;
  readonly name: string;
  /**
   * Name of the recipe: `mutex`, `trylock`, `read`, `write`, `semaphore-<limit>`, `election`, or `observe`.
   */
  readonly recipe: string;
  readonly id: string;
}

/**
 * Returns the backend. A URL alone is not enough: it has no option for a single key, and none for the key
 * formats of the two queues of a semaphore in ZooKeeper.
 */
export async function backendOf(url: string, recipe: string): Promise<Backend> {
  const { hosts, params } = parseBackendUrl(url);
  if (recipe === 'single-key')
    return consul({
      hosts,
      minTtlMs: Number(params.get('minTtlMs')),
      singleKey: (queue) => `${queue}/.lock`,
    });
  if (!recipe.startsWith('semaphore-')) return backendFromUrl(url);
  return zookeeper({
    hosts,
    tickTimeMs: Number(params.get('tickTimeMs')),
    syncLimit: Number(params.get('syncLimit')),
    naming: (queue) => (queue.endsWith('/leases') ? 'curator-lease' : 'curator'),
  });
}

/** Reports the leader's value at each change, or `''` when there is no leader. */
export function observe({ client, name, id }: Task, say: (leader: string) => void): Subscription {
  const leader$ = election(client, name, { value: id }).leader$.pipe(
    filter(({ status }) => status === 'live'),
    map(({ leader }) => leader?.value ?? ''),
    distinctUntilChanged(),
  );
  return leader$.subscribe(say);
}

/**
 * Returns a function that joins the queue once, by the recipe that is named. Its promise resolves with
 * `undefined` if the recipe is to try without waiting, and the lock is not free.
 */
export function recipeOf({ client, name, recipe, id }: Task): () => Promise<Held | undefined> {
  const acquire = async (options: AcquireOptions): Promise<Held> =>
    heldBy(await client.acquire(name, { value: id, ...options }));
  const [kind = '', limit] = recipe.split('-');
  switch (kind) {
    case 'mutex':
    case 'single':
    case 'write':
      return () => acquire({});
    case 'read':
      return () => acquire({ mode: 'shared' });
    case 'semaphore':
      return async () => {
        const leases = curatorSemaphore(client, name, { maxLeases: Number(limit) });
        return heldBy(await leases.acquire({ value: id }));
      };
    case 'trylock':
      return async () => {
        const ownership = await client.tryAcquire(name, { value: id });
        return ownership && heldBy(ownership);
      };
    case 'election':
      return async () => {
        const leadership = await election(client, name, { value: id }).campaign();
        return view(leadership, () => leadership.resign());
      };
    default:
      throw new TypeError(
        `recipe: "${recipe}" is none of mutex, trylock, read, write, semaphore-<limit>, election`,
      );
  }
}

function heldBy(ownership: SharedOwnership): Held {
  return view(ownership, () => ownership.release());
}

/**
 * Returns the hold with `leave` as its method to release. The values of `held` and `signal` depend on the
 * time of the read, so they are getters.
 */
function view(hold: Omit<Held, 'leave'>, leave: () => Promise<void>): Held {
  return {
    get held() {
      return hold.held;
    },
    get signal() {
      return hold.signal;
    },
    order: hold.order,
    token: hold.token,
    key: hold.key,
    leave,
  };
}
