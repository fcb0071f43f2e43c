import type { Backend } from '@queuelock/core';
import type { EntrySpec, Placement, Session, Turn } from '@queuelock/core/backend';
import { Observable } from 'rxjs';
import { passingOn } from '../chaos/instrumented.ts';

/**
 * A defect that the comparison with memory or the checker has to find. The function changes what the store
 * returned for an enqueued entry.
 */
type Defect = (placement: Placement, spec: EntrySpec) => Placement;

/**
 * For each defect of a store, by its name, a function that returns the defect. The defect keeps its own
 * state, which all clients of one store share.
 */
export const DEFECTS: Readonly<Record<string, () => Defect>> = {
  /** A defect that makes the store grant every entry at once. */
  'grants early': () => (placement) => ({ ...placement, turn: { admitted: true } }),
  /** A defect that gives each entry the token of the first entry of its queue. */
  'repeats a token': () => {
    const first = new Map<string, bigint>();
    return (placement, { queue }) => {
      if (!first.has(queue)) first.set(queue, placement.token);
      return { ...placement, token: first.get(queue)! };
    };
  },
  /** A defect by which the store does not report that an entry was removed or that its session has ended. */
  'forgets a loss': () => (placement) => ({
    ...placement,
    turns$: new Observable<Turn>((subscriber) =>
      placement.turns$.subscribe({ next: (turn) => subscriber.next(turn), error: () => undefined }),
    ),
  }),
  /** A defect that notifies the last waiter of a queue when the store admits another waiter. */
  'swaps two waiters': swapping,
};

interface Waiter {
  readonly notify: (turn: Turn) => void;
}

function swapping(): Defect {
  const waiters = new Map<string, Waiter[]>();
  return (placement, { queue }) => {
    if (placement.turn.admitted) return placement;
    const waiting = waiters.get(queue) ?? [];
    waiters.set(queue, waiting);
    const turns$ = new Observable<Turn>((subscriber) => {
      const own = { notify: (turn: Turn) => subscriber.next(turn) };
      waiting.push(own);
      subscriber.add(() => void waiting.splice(waiting.indexOf(own), waiting.includes(own) ? 1 : 0));
      return placement.turns$.subscribe({
        next: (turn) => (turn.admitted ? waiting.pop()?.notify(turn) : subscriber.next(turn)),
        error: (error: unknown) => subscriber.error(error),
      });
    });
    return { ...placement, turns$ };
  };
}

/** Returns a backend that applies the defect to the result of every enqueue. */
export function defective(backend: Backend, defect: Defect): Backend {
  return passingOn(backend, {
    open: async (...args) => inSession(await backend.open(...args), defect),
    ...(backend.resume && { resume: async (...args) => inSession(await backend.resume!(...args), defect) }),
  });
}

function inSession(session: Session, defect: Defect): Session {
  return passingOn(session, {
    enqueue: async (spec) => defect(await session.enqueue(spec), spec),
    enqueueAll: async (specs, option) =>
      (await session.enqueueAll!(specs, option)).map((placement, at) => defect(placement, specs[at]!)),
    tryEnqueue: async (spec) => {
      const placement = await session.tryEnqueue(spec);
      return placement && defect(placement, spec);
    },
  });
}
