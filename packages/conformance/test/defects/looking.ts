import { NEVER, Subject, concat, finalize, takeUntil, throttleTime } from 'rxjs';
import { pictures, wishes, type Defect, type Defects } from '../defective.ts';

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

/** Defects of tries and of observers. */
export const lookingDefects: Defects = [
  [
    'leaves the entry of a try in line',
    () => ({
      session: (sound) => ({
        tryEnqueue: async (spec) => {
          const placement = await sound.enqueue(spec);
          return placement.turn.admitted ? placement : undefined;
        },
      }),
    }),
    [
      'a try on a busy queue answers undefined and leaves nothing',
      'tries never hold up those who wait',
      'after everybody has left nothing is left',
    ],
  ],
  [
    'never admits a try',
    () => ({ session: () => ({ tryEnqueue: async () => undefined }) }),
    [
      'a try on a free queue is admitted and holds like any other',
      'of several tries at the same time exactly one is admitted',
    ],
  ],
  [
    'shows no empty queue',
    () => pictures((picture) => (picture.length > 0 ? picture : undefined)),
    ['an observer sees an empty queue at once', 'an observer follows joins and leaves in order'],
  ],
  [
    'shows a queue backwards',
    () => pictures((picture) => [...picture].reverse()),
    ['an observer sees the present queue first, in order'],
  ],
  [
    'shows a queue once',
    () => pictures((picture, number) => (number === 0 ? picture : undefined)),
    ['an observer follows joins and leaves in order', 'a value is seen by others and can be replaced'],
  ],
  [
    'forgets what changed while an observer rested',
    () => ({
      backend: (sound) => ({
        observe(queue, { apartMs = 0 } = {}) {
          const seen$ = sound.observe(queue);
          return apartMs > 0 ? seen$.pipe(throttleTime(apartMs)) : seen$;
        },
      }),
    }),
    ['an observer whose looks are apart sees the last change, also one of its own process'],
  ],
  [
    'stops all observers with one',
    oneObserverEndsAll,
    ['an observer that stops takes nothing from the others'],
  ],
  [
    'forgets updates',
    () => ({ session: () => ({ update: async () => true }) }),
    [
      'a value is seen by others and can be replaced',
      'an update of an entry that is not there answers false',
    ],
  ],
  [
    'cuts values',
    () =>
      wishes((spec) => (spec.value === undefined ? spec : { ...spec, value: spec.value.slice(0, 1_024) })),
    ['a value of 2,048 bytes arrives as it was given'],
  ],
];
