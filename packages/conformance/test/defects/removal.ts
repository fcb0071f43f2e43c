import { finalize } from 'rxjs';
import { later, line, placements, changedSpecs, type Defect, type Defects } from '../defective.ts';

const keepsThoseWhoGiveUp: Defect = (server) => ({
  session: (sound) => ({
    remove: async (queue, id) => {
      const waits = line(server, queue).some((entry) => entry.id === id && !entry.admitted);
      return waits || sound.remove(queue, id);
    },
  }),
});

const removesThoseOfOthers: Defect = (server) => ({
  session: (sound) => ({
    remove: async (queue, id) =>
      (await sound.remove(queue, id)) ||
      line(server, queue).some((entry) => entry.id === id && server.evict(entry.key)),
  }),
});

/** Seeded defects in the removal of entries, which the conformance suite must detect. */
export const removalDefects: Defects = [
  [
    'resolves every removal with true',
    () => ({
      session: (sound) => ({ remove: async (queue, id) => (await sound.remove(queue, id)) || true }),
    }),
    [
      'a removal returns true once and false after that',
      'the removal of an entry id that was never in the queue returns false',
    ],
  ],
  [
    'removes nothing',
    () => ({ session: () => ({ remove: async () => true }) }),
    ['a removal wakes exactly the next waiter', 'nothing is left in the store after all entries have left'],
  ],
  [
    'removes the entry of any session that has the id',
    removesThoseOfOthers,
    ['a session neither changes nor removes the entry of another session whose id it knows'],
  ],
  [
    'gives every call with the same id a new entry',
    () => changedSpecs((spec) => ({ ...spec, id: `${spec.id}${String(Math.random())}` })),
    ['entering a queue twice with one id adds one entry'],
  ],
  [
    'lets a removal overtake an enqueue',
    () => ({ session: (sound) => ({ enqueue: (spec) => later(() => sound.enqueue(spec)) }) }),
    [
      'an id that is removed while its enqueue is in flight never appears in the queue (response to remove awaited first)',
      'an id that is removed while its enqueue is in flight never appears in the queue (response to enqueue awaited first)',
      'an id that is removed while it joins behind a holder never appears in the queue',
      'an id that is removed after it entered twice never appears in the queue again',
    ],
  ],
  [
    'lets a removal overtake a try',
    () => ({ session: (sound) => ({ tryEnqueue: (spec) => later(() => sound.tryEnqueue(spec)) }) }),
    ['an id that is removed while its tryEnqueue is in flight never appears in the queue'],
  ],
  [
    'removes an entry when its turns have no subscriber',
    () =>
      placements((placement, { queue, id }, sound) => ({
        ...placement,
        turns$: placement.turns$.pipe(finalize(() => void sound.remove(queue, id))),
      })),
    ['an entry keeps its position while no client subscribes to its turns'],
  ],
  [
    'keeps the entries of waiters that give up',
    keepsThoseWhoGiveUp,
    [
      'when a waiting writer leaves, the readers behind it are admitted beside the readers that hold',
      'nothing is left in the store after all entries have left',
      'a waiter that leaves a semaphore uses up no permit',
    ],
  ],
];
