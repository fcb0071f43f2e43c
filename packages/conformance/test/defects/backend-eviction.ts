import type { Backend } from '@queuelock/core/backend';
import type { MemoryServer } from '@queuelock/memory';
import { line, type CompleteBackend, type Defect, type Defects } from '../defective.ts';

type Evict = NonNullable<Backend['evict']>;

/** Makes a defect that changes how the backend evicts entries. */
function evicting(evict: (sound: CompleteBackend, server: MemoryServer) => Evict): Defect {
  return (server) => ({ backend: (sound) => ({ evict: evict(sound, server) }) });
}

/** Seeded defects in the eviction of entries by the backend, which the conformance suite must detect. */
export const backendEvictionDefects: Defects = [
  [
    'evicts no entry',
    evicting(() => async () => true),
    [
      'a holder that is evicted is notified, and the next waiter is admitted',
      'a waiter that is evicted is notified, and the waiters behind it move up',
    ],
  ],
  [
    'evicts any entry with that key, whatever its order',
    evicting(
      (_sound, server) =>
        async (_queue, { key }) =>
          server.evict(key),
    ),
    [
      'only the entry with that key and that order is evicted, once',
      'the key of another queue is refused with INVALID_ARGUMENT',
    ],
  ],
  [
    'evicts only entries of plain locks',
    evicting((sound, server) => async (queue, entry) => {
      const target = line(server, queue).find(({ key }) => key === entry.key);
      return target?.limit === 1 && !target.shared && sound.evict(queue, entry);
    }),
    ['readers and entries with several permits can be evicted like any other'],
  ],
  [
    'evicts as if the owner had left by itself',
    evicting((sound, server) => async (queue, { key }) => {
      const target = line(server, queue).find((entry) => entry.key === key);
      if (!target) return false;
      const owner = await sound.resume(target.sessionId, new AbortController().signal);
      return owner.remove(queue, target.id);
    }),
    ['a hold that is evicted leaves its trace in the store'],
  ],
];
