import type { Turn } from '@queuelock/core/backend';
import { Subject, merge } from 'rxjs';
import { ADMITTED, line, placements, type CompleteSession, type Defect, type Defects } from '../defective.ts';

type Share = CompleteSession['share'];

/** Makes a defect that changes how exclusive entries become shared. */
function sharing(share: (sound: CompleteSession) => Share): Defect {
  return () => ({ session: (sound) => ({ share: share(sound) }) });
}

const wakesWritersToo: Defect = () => {
  const herd$ = new Subject<Turn>();
  const woken = placements((placement) => ({ ...placement, turns$: merge(placement.turns$, herd$) }));
  return {
    session: (sound) => ({
      ...woken.session?.(sound),
      share: async (queue, id, value) => {
        const shared = await sound.share(queue, id, value);
        herd$.next(ADMITTED);
        return shared;
      },
    }),
  };
};

const losesSightOfReaders: Defect = () => ({
  session: (sound) => {
    const readers = new Set<string>();
    return {
      share: (queue, id, value) => {
        readers.add(id);
        return sound.share(queue, id, value);
      },
      update: async (queue, id, value) => !readers.has(id) && sound.update(queue, id, value),
      remove: async (queue, id) => !readers.has(id) && sound.remove(queue, id),
    };
  },
});

const givesReadersSecondPlaces: Defect = () => ({
  session: (sound) => {
    const readers = new Set<string>();
    return {
      share: (queue, id, value) => {
        readers.add(id);
        return sound.share(queue, id, value);
      },
      enqueue: (spec) => sound.enqueue(readers.has(spec.id) ? { ...spec, id: `${spec.id}-again` } : spec),
    };
  },
});

const keepsOldValues: Defect = (server) => ({
  session: (sound) => ({
    share: (queue, id) => {
      const entry = line(server, queue).find((candidate) => candidate.id === id);
      return sound.share(queue, id, entry?.value ?? '');
    },
  }),
});

/** Seeded defects in the conversion of writers to readers, which the conformance suite must detect. */
export const downgradeDefects: Defects = [
  [
    'lets no writer become a reader',
    sharing((sound) => (queue, id, value) => sound.update(queue, id, value)),
    [
      'a writer that becomes a reader admits the readers behind it, up to the next writer',
      'entries that join later see a reader in a writer that became one',
    ],
  ],
  [
    'admits the writers together with the readers',
    wakesWritersToo,
    [
      'a writer that becomes a reader admits the readers behind it, up to the next writer',
      'the next writer waits for a writer that became a reader and for all readers',
    ],
  ],
  [
    'lets a writer that becomes a reader join again',
    sharing((sound) => async (queue, id, value) => {
      const removed = await sound.remove(queue, id);
      await sound.enqueue({ queue, id, value, shared: true, limit: 1 });
      return removed;
    }),
    ['a writer that becomes a reader keeps its position and shows the new value'],
  ],
  [
    'keeps the old value of a writer that becomes a reader',
    keepsOldValues,
    ['a writer that becomes a reader keeps its position and shows the new value'],
  ],
  [
    'rejects a second request to become a reader',
    sharing((sound) => {
      const readers = new Set<string>();
      return async (queue, id, value) => {
        if (readers.has(id)) return false;
        readers.add(id);
        return sound.share(queue, id, value);
      };
    }),
    ['becoming a reader twice has the same effect as once'],
  ],
  [
    'makes readers of entries that do not exist',
    sharing((sound) => async (queue, id, value) => (await sound.share(queue, id, value)) || true),
    ['an entry that is not in the queue cannot become a reader'],
  ],
  [
    'does not find the entry of a writer that became a reader',
    losesSightOfReaders,
    ['a writer that became a reader can be updated, and leaves nothing behind'],
  ],
  [
    'gives a writer that became a reader a second entry',
    givesReadersSecondPlaces,
    ['entering again after having become a reader adds no second entry'],
  ],
];
