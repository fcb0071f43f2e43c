import type { Turn } from '@queuelock/core/backend';
import { filter } from 'rxjs';
import { line, placements, changedSpecs, type Defect, type Defects } from '../defective.ts';

const oneWakeUpForMany: Defect = () => {
  let woken = false;
  const isFirst = (): boolean => {
    if (woken) return false;
    setImmediate(() => (woken = false));
    return (woken = true);
  };
  return placements((placement) => ({
    ...placement,
    turns$: placement.turns$.pipe(
      filter(({ admitted }) => !admitted || placement.turn.admitted || isFirst()),
    ),
  }));
};

const watchesTheHeadOnly: Defect = (server) =>
  placements((placement, { queue }) => {
    const head = line(server, queue)[0]?.id;
    const sees = (turn: Turn): boolean => !turn.admitted || line(server, queue)[0]?.id !== head;
    return placement.turn.admitted
      ? placement
      : { ...placement, turns$: placement.turns$.pipe(filter(sees)) };
  });

/** Seeded defects in readers, writers and semaphores, which the conformance suite must detect. */
export const sharingDefects: Defects = [
  [
    'treats readers as writers',
    () => changedSpecs((spec) => ({ ...spec, shared: false })),
    [
      'readers hold at the same time, and a writer waits for all of them',
      'an observer distinguishes readers from writers',
    ],
  ],
  [
    'lets readers pass a writer',
    () => changedSpecs((spec) => (spec.shared ? { ...spec, limit: 2 } : spec)),
    [
      'a reader that joins later waits behind a waiting writer',
      'a shared try is admitted beside a reader that holds, but not behind a waiting writer',
    ],
  ],
  [
    'admits one waiter where several may be admitted',
    oneWakeUpForMany,
    ['all readers behind a writer are admitted when it leaves, up to the next writer'],
  ],
  [
    'admits one holder of a semaphore at a time',
    () => changedSpecs((spec) => ({ ...spec, limit: 1 })),
    [
      'a semaphore admits as many as it has permits',
      'a try on a semaphore is admitted while a permit is free',
    ],
  ],
  [
    'reads again only when the first entry of the queue leaves',
    watchesTheHeadOnly,
    [
      'a permit passes to the next waiter, whichever holder returns it',
      'when a waiting writer leaves, the readers behind it are admitted beside the readers that hold',
    ],
  ],
];
