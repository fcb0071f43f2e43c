import { QueueLockError, type EntrySpec, type Placement } from '@queuelock/core/backend';
import { memory } from '@queuelock/memory';
import { later, line, plain, type CompleteSession, type Defect, type Defects } from '../defective.ts';

/** Makes a defect that changes how one call enters several queues. */
function entering(
  enqueueAll: (specs: readonly EntrySpec[], sound: CompleteSession) => Promise<readonly Placement[]>,
): Defect {
  return () => ({ session: (sound) => ({ enqueueAll: (specs) => enqueueAll(specs, sound) }) });
}

const oneAfterTheOther: Defect = entering(async (specs, sound) => {
  const placements: Placement[] = [];
  for (const spec of specs) placements.push(await sound.enqueue(spec));
  return placements;
});

const leavesTheRest: Defect = (server) => ({
  session: (sound) => ({
    enqueueAll: async (specs) => {
      const there = specs.filter(({ queue, id }) => line(server, queue).some((entry) => entry.id === id));
      if (there.length === 0 || there.length === specs.length) return sound.enqueueAll(specs);
      throw new QueueLockError('ENTRY_LOST', 'one of them was removed');
    },
  }),
});

const removesAllWithOne: Defect = () => ({
  session: (sound) => {
    const together = new Map<string, readonly EntrySpec[]>();
    return {
      enqueueAll: (specs) => {
        for (const { id } of specs) together.set(id, specs);
        return sound.enqueueAll(specs);
      },
      remove: async (queue, id) => {
        const removed = await sound.remove(queue, id);
        for (const spec of together.get(id) ?? []) await sound.remove(spec.queue, spec.id);
        return removed;
      },
    };
  },
});

const entersForAnotherSession: Defect = (server) => ({
  session: (sound) => ({
    enqueueAll: async ([first, ...rest]) => {
      const { signal } = new AbortController();
      const other = plain(await memory({ server }).open(2_000, signal));
      return first ? [await sound.enqueue(first), ...(await other.enqueueAll(rest))] : [];
    },
  }),
});

/** Seeded defects in calls that enter several queues, which the conformance suite must detect. */
export const togetherDefects: Defects = [
  [
    'enters one queue after the other',
    oneAfterTheOther,
    [
      'any two claims that enter several queues are in the same order in all of them',
      'many claims of several queues are all granted',
      'the removal of one entry by an operator is the loss of all when they enter again',
      'two entries of one queue are refused with INVALID_ARGUMENT',
    ],
  ],
  [
    'mixes up the placements in several queues',
    entering(async (specs, sound) => [...(await sound.enqueueAll(specs))].reverse()),
    ['entries that enter together are placed in each queue, as specified'],
  ],
  [
    'enters several queues with plain entries, whatever the specs',
    entering((specs, sound) =>
      sound.enqueueAll(specs.map(({ queue, id }) => ({ queue, id, shared: false, limit: 1 }))),
    ),
    ['entries of all kinds enter together'],
  ],
  [
    'gives every call for several queues new entries',
    entering((specs, sound) =>
      sound.enqueueAll(specs.map((spec) => ({ ...spec, id: `${spec.id}${String(Math.random())}` }))),
    ),
    ['entering together twice with the same ids adds the same entries'],
  ],
  [
    'removes all entries that entered together when one leaves',
    removesAllWithOne,
    ['entries that entered together are removed one by one'],
  ],
  [
    'lets a removal overtake entries that enter together',
    entering((specs, sound) => later(() => sound.enqueueAll(specs))),
    [
      'ids removed while they enter together never appear (response to remove awaited first)',
      'ids removed while they enter together never appear (response to enqueueAll awaited first)',
      'one id removed while several enter together never appears, and if none entered, none is left',
    ],
  ],
  [
    'keeps the other entries when one of those that entered together is gone',
    leavesTheRest,
    ['the removal of one entry by an operator is the loss of all when they enter again'],
  ],
  [
    'enters all queues except the first under another session',
    entersForAnotherSession,
    ['no entry of a claim that entered together remains after its session has died'],
  ],
];
