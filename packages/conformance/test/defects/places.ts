import type { Session, Turn } from '@queuelock/core/backend';
import { memory } from '@queuelock/memory';
import { NEVER, Subject, filter, map, merge, of } from 'rxjs';
import { ADMITTED, line, placements, plain, changedSpecs, type Defect, type Defects } from '../defective.ts';

/**
 * A defect: an entry is admitted at once if any entry was admitted in its queue before. `holding` contains
 * the names of the queues in which an entry was admitted. If several sessions share one such set, the defect
 * works across sessions.
 */
function reentrant(sound: Session, holding: Set<string>): Partial<Session> {
  return {
    enqueue: async (spec) => {
      const placement = await sound.enqueue(spec);
      const turn = holding.has(spec.queue) ? ADMITTED : placement.turn;
      if (turn.admitted) holding.add(spec.queue);
      return { ...placement, turn };
    },
  };
}

const trustsPredecessor: Defect = (server) =>
  placements((placement, { queue, id }) => {
    const entries = line(server, queue);
    const ahead = entries[entries.findIndex((entry) => entry.id === id) - 1];
    if (!ahead) return placement;
    const aheadGone$ = memory({ server })
      .observe(queue)
      .pipe(
        filter((seen) => !seen.some(({ key }) => key === ahead.key)),
        map(() => ADMITTED),
      );
    return { ...placement, turns$: merge(placement.turns$, aheadGone$) };
  });

const wakesEverybody: Defect = () => {
  const herd$ = new Subject<Turn>();
  return placements((placement) => ({
    ...placement,
    turns$: merge(
      herd$,
      placement.turns$.pipe(
        map((turn) => {
          if (turn.admitted && !placement.turn.admitted) herd$.next(ADMITTED);
          return turn;
        }),
      ),
    ),
  }));
};

/** A defect: a new entry is put ahead of the waiters. The waiters' entries leave and join again behind it. */
const losesPlaces: Defect = () => {
  let rejoin = async (): Promise<void> => undefined;
  return {
    session: (sound) => ({
      enqueue: async (spec) => {
        const placement = await sound.enqueue(spec);
        if (placement.turn.admitted) return placement;
        await rejoin();
        const turn$ = new Subject<Turn>();
        const follow = (turns$: typeof placement.turns$): void => {
          turns$.subscribe({
            next: (turn) => {
              turn$.next(turn);
            },
            error: () => undefined,
          });
        };
        follow(placement.turns$);
        rejoin = async () => {
          await sound.remove(spec.queue, spec.id);
          follow((await sound.enqueue(spec)).turns$);
        };
        return { ...placement, turns$: turn$ };
      },
    }),
  };
};

/** Seeded defects in the order of grants, which the conformance suite must detect. */
export const placeDefects: Defects = [
  [
    'admits two at a time',
    () => changedSpecs((spec) => ({ ...spec, limit: spec.limit + 1 })),
    [
      'three connections are granted in the order in which they joined',
      'a semaphore admits as many as it has permits',
      'of several concurrent tries exactly one is admitted',
      'twelve contenders on four connections are all granted, one at a time, with growing tokens',
    ],
  ],
  [
    'never notifies a waiter of its admission',
    () => placements((placement) => ({ ...placement, turns$: NEVER })),
    [
      'three connections are granted in the order in which they joined',
      'a session that is renewed outlives its TTL',
    ],
  ],
  [
    'completes the turns after the admission',
    () => placements((placement) => ({ ...placement, turns$: of(placement.turn) })),
    ['three connections are granted in the order in which they joined'],
  ],
  [
    'does not keep the order of joining',
    losesPlaces,
    [
      'a waiter that leaves the middle of the queue is skipped and wakes no other',
      'three connections are granted in the order in which they joined',
    ],
  ],
  [
    'numbers the entries in reverse order',
    () => placements((placement) => ({ ...placement, order: -placement.order })),
    ['orders grow in the order of joining'],
  ],
  [
    'starts its tokens again in every empty queue',
    (server) =>
      placements((placement, { queue }) => ({ ...placement, token: BigInt(line(server, queue).length) })),
    ['the tokens of successive holders grow, also after the queue was empty'],
  ],
  ['wakes everybody at every release', wakesEverybody, ['a removal wakes exactly the next waiter']],
  [
    'takes the end of its predecessor for the own admission',
    trustsPredecessor,
    [
      'a waiter that leaves the middle of the queue is skipped and wakes no other',
      'a waiter that leaves a semaphore uses up no permit',
      'the entry of a waiter that dies is removed, and the next waiter is admitted only after the holder has left',
    ],
  ],
  [
    'admits a session again that already holds',
    () => ({ session: (sound) => reentrant(sound, new Set()) }),
    ['several entries of one session in a queue wait for one another'],
  ],
  [
    'admits a connection again that already holds',
    () => ({
      backend: (sound) => {
        const holding = new Set<string>();
        return {
          open: async (ttlMs, signal) => {
            const session = plain(await sound.open(ttlMs, signal));
            return { ...session, ...reentrant(session, holding) };
          },
        };
      },
    }),
    ['entries of several sessions of one connection wait for one another'],
  ],
];
