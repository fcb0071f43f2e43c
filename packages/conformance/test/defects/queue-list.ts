import { EMPTY, NEVER, concat, map, take } from 'rxjs';
import type { Backend, ListedQueue } from '@queuelock/core/backend';
import type { Defect, Defects } from '../defective.ts';

type List = readonly ListedQueue[];

/** Makes a defect that changes every list of queues. */
function lists(change: (list: List) => List): Defect {
  return () => ({
    backend: (sound) =>
      ({
        queues(prefix) {
          return sound.queues(prefix).pipe(map(change));
        },
      }) satisfies Partial<Backend>,
  });
}

const LISTED = 'queues are listed by the prefix of their names, with their number of entries';
const FOLLOWS = 'a list of queues follows joins and leaves, and shows no empty queue';
const FRONT = 'a list of queues shows the first entry, and how many have left';

/** Seeded defects in the list of queues, which the conformance suite must detect. */
export const queueListDefects: Defects = [
  [
    'lists all queues whatever the prefix',
    () => ({
      backend: (sound) =>
        ({
          queues() {
            return sound.queues('');
          },
        }) satisfies Partial<Backend>,
    }),
    [LISTED],
  ],
  ['counts each queue once', lists((list) => list.map((queue) => ({ ...queue, depth: 1 }))), [LISTED, FRONT]],
  [
    'lists its queues only once',
    () => ({
      backend: (sound) =>
        ({
          queues(prefix) {
            return concat(sound.queues(prefix).pipe(take(1)), NEVER);
          },
        }) satisfies Partial<Backend>,
    }),
    [FOLLOWS, FRONT],
  ],
  [
    'lists no queue',
    () => ({
      backend: () =>
        ({
          queues() {
            return concat(EMPTY, NEVER);
          },
        }) satisfies Partial<Backend>,
    }),
    [LISTED, FOLLOWS, FRONT],
  ],
  ['counts nobody who left', lists((list) => list.map((queue) => ({ ...queue, left: 0 }))), [FRONT]],
];
