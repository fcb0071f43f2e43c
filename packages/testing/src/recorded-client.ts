import type { LockClient, MultiLock, MultiOwnership, Ownership } from '@queuelock/core';
import type { Effects } from './effects.ts';
import { tap } from './rx.ts';

type Work = (ownership: Ownership, stop: AbortSignal) => unknown;
type MultiWork = (ownership: MultiOwnership, stop: AbortSignal) => unknown;

/**
 * Returns a lock client that behaves as the given one and records each hold that it grants. It also records
 * which calls of effects (functions wrapped by `TestStore.effect`) belong to the work of a `run` call.
 */
export function recordedClient(locks: LockClient, id: string, effects: Effects): LockClient {
  const noted = <T extends Ownership | undefined>(ownership: T): T => {
    if (ownership) effects.granted(id, ownership);
    return ownership;
  };
  const recorded: Partial<LockClient> = {
    run: (name: string, work: Work, ...options: []) =>
      locks.run(
        name,
        (ownership, stop) => effects.within(effects.granted(id, ownership), () => work(ownership, stop)),
        ...options,
      ),
    acquire: async (...given: Parameters<LockClient['acquire']>) => noted(await locks.acquire(...given)),
    tryAcquire: async (...given: Parameters<LockClient['tryAcquire']>) =>
      noted(await locks.tryAcquire(...given)),
    claim: (...given) =>
      locks.claim(...given).pipe(
        tap((state) => {
          if (state.status === 'held') effects.granted(id, state.ownership);
        }),
      ),
    multi: (names) => recordedMulti(locks.multi(names), id, effects),
  };
  return replaced(locks, recorded);
}

function recordedMulti(lock: MultiLock, id: string, effects: Effects): MultiLock {
  const recorded: Partial<MultiLock> = {
    run: ((work: MultiWork, ...options: []) =>
      lock.run(
        (ownership, stop) => effects.within(effects.granted(id, ownership), () => work(ownership, stop)),
        ...options,
      )) as MultiLock['run'],
    async acquire(...options) {
      const ownership = await lock.acquire(...options);
      effects.granted(id, ownership);
      return ownership;
    },
    async tryAcquire(...options) {
      const ownership = await lock.tryAcquire(...options);
      if (ownership) effects.granted(id, ownership);
      return ownership;
    },
    claim: (...options) =>
      lock.claim(...options).pipe(
        tap((state) => {
          if (state.status === 'held') effects.granted(id, state.ownership);
        }),
      ),
  };
  return replaced(lock, recorded);
}

/** Returns a proxy of `target` with some methods replaced. All other methods are those of `target`. */
function replaced<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(_target, key) {
      if (Object.hasOwn(methods, key)) return Reflect.get(methods, key) as unknown;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
