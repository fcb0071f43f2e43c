import { NEVER, Subject, concat, finalize, takeUntil, throttleTime } from 'rxjs';
import { snapshots, changedSpecs, type Defect, type Defects } from '../defective.ts';

const oneObserverEndsAll: Defect = () => ({
  backend: (sound) => {
    const stop$ = new Subject<void>();
    return {
      observe(queue) {
        const seen$ = sound.observe(queue).pipe(takeUntil(stop$));
        return concat(seen$, NEVER).pipe(
          finalize(() => {
            stop$.next();
          }),
        );
      },
    };
  },
});

/** Seeded defects in tries and in the observation of queues, which the conformance suite must detect. */
export const observingDefects: Defects = [
  [
    'leaves the entry of a failed try in the queue',
    () => ({
      session: (sound) => ({
        tryEnqueue: async (spec) => {
          const placement = await sound.enqueue(spec);
          return placement.turn.admitted ? placement : undefined;
        },
      }),
    }),
    [
      'a try on a busy queue returns undefined and leaves no entry',
      'tries never delay the waiters of a queue',
      'nothing is left in the store after all entries have left',
    ],
  ],
  [
    'never admits a try',
    () => ({ session: () => ({ tryEnqueue: async () => undefined }) }),
    [
      'a try on a free queue is admitted, and its entry holds like any other',
      'of several concurrent tries exactly one is admitted',
    ],
  ],
  [
    'emits nothing for an empty queue',
    () => snapshots((snapshot) => (snapshot.length > 0 ? snapshot : undefined)),
    [
      'an observer of an empty queue immediately receives an empty snapshot',
      'an observer sees joins and departures in order',
    ],
  ],
  [
    'shows a queue in reverse order',
    () => snapshots((snapshot) => [...snapshot].reverse()),
    ['an observer sees first the current entries of the queue, in order'],
  ],
  [
    'shows a queue only once',
    () => snapshots((snapshot, number) => (number === 0 ? snapshot : undefined)),
    [
      'an observer sees joins and departures in order',
      'the value of an entry is visible to other clients and can be replaced',
    ],
  ],
  [
    'drops changes within the interval of an observer',
    () => ({
      backend: (sound) => ({
        observe(queue, { apartMs = 0 } = {}) {
          const seen$ = sound.observe(queue);
          return apartMs > 0 ? seen$.pipe(throttleTime(apartMs)) : seen$;
        },
      }),
    }),
    [
      'an observer that limits how often it reads sees the last change of the queue, even one that its own client made',
    ],
  ],
  [
    'stops all observers when one unsubscribes',
    oneObserverEndsAll,
    ['an observer that unsubscribes does not affect the others'],
  ],
  [
    'drops updates of values',
    () => ({ session: () => ({ update: async () => true }) }),
    [
      'the value of an entry is visible to other clients and can be replaced',
      'an update of an entry that is not in the queue returns false',
    ],
  ],
  [
    'truncates values',
    () =>
      changedSpecs((spec) =>
        spec.value === undefined ? spec : { ...spec, value: spec.value.slice(0, 1_024) },
      ),
    ['the value of an entry may have 2,048 bytes and is returned unchanged'],
  ],
];
