import { ADMITTED, line, placements, changedSpecs, type Defect, type Defects } from '../defective.ts';

/**
 * A defect: an entry is admitted when its permits and those of the holders are together within the limit,
 * even if waiters are ahead of it.
 */
const letsSmallRequestsPass: Defect = (server) =>
  placements((placement, { queue, limit, permits = 1 }) => {
    const held = line(server, queue).filter(({ admitted }) => admitted);
    const taken = held.reduce((sum, entry) => sum + entry.permits, 0);
    return taken + permits <= limit ? { ...placement, turn: ADMITTED } : placement;
  });

const keepsTheFirstLimit: Defect = () => {
  const limits = new Map<string, number>();
  return changedSpecs((spec) => {
    const limit = limits.get(spec.id) ?? spec.limit;
    limits.set(spec.id, limit);
    return { ...spec, limit };
  });
};

const joinsAgainForAnotherLimit: Defect = () => ({
  session: (sound) => {
    const limits = new Map<string, number>();
    return {
      enqueue: async (spec) => {
        const { queue, id, limit } = spec;
        if ((limits.get(id) ?? limit) !== limit) await sound.remove(queue, id);
        limits.set(id, limit);
        return sound.enqueue(spec);
      },
    };
  },
});

/**
 * Seeded defects in requests for several permits, and in entries with different limits, which the conformance
 * suite must detect.
 */
export const permitDefects: Defects = [
  [
    'takes one permit whatever the number requested',
    () => changedSpecs((spec) => ({ ...spec, permits: 1 })),
    [
      'permits are taken until none are left, and returned by entries that leave',
      'a request for several permits waits until enough are free, whichever holders return them',
      'a try for several permits is admitted if that many are free, and otherwise leaves no entry',
    ],
  ],
  [
    'lets small requests pass big ones',
    letsSmallRequestsPass,
    [
      'a waiter for many permits at the front is not overtaken by a waiter for fewer permits',
      'when an entry for many permits leaves, the entries for fewer permits behind it are admitted',
    ],
  ],
  [
    'keeps the first limit of an entry',
    keepsTheFirstLimit,
    [
      'waiters whose entries are stored again with a higher limit are admitted under it and keep their positions',
      'a lower limit applies to waiters and does not affect holders',
    ],
  ],
  [
    'joins again behind the others for another limit',
    joinsAgainForAnotherLimit,
    [
      'waiters whose entries are stored again with a higher limit are admitted under it and keep their positions',
      'a holder that enters again with a lower limit keeps its position and its hold',
    ],
  ],
  [
    'reports no other limit',
    () => placements(({ order, token, key, turn, turns$ }) => ({ order, token, key, turn, turns$ })),
    [
      'the reply to an enqueue contains the limit of an entry ahead, if it differs from the limit of the new entry',
      'the reply to an enqueue with a limit above 1 behind a reader contains the limit 1, which every reader has',
    ],
  ],
  [
    'reports the limit of any entry ahead, also when it is the same',
    (server) =>
      placements((placement, { queue }) => ({
        ...placement,
        otherLimit: line(server, queue)[0]?.limit ?? 0,
      })),
    [
      'the reply to an enqueue contains no limit of an entry ahead if all limits are equal, or if a reader enters',
    ],
  ],
];
