import type { MemoryServer } from '@queuelock/memory';
import { Observable, type Subscriber } from 'rxjs';
import type { Turn } from '../../../src/backend.ts';
import { inSession, type Defect } from './defect.ts';

const queues = new WeakMap<MemoryServer, Map<string, Subscriber<Turn>[]>>();

function lineOf(server: MemoryServer, queue: string): Subscriber<Turn>[] {
  const ofServer = queues.get(server) ?? new Map<string, Subscriber<Turn>[]>();
  const line = ofServer.get(queue) ?? [];
  queues.set(server, ofServer.set(queue, line));
  return line;
}

/** Returns the turns of an entry, with a defect: each admission is reported to the newest waiter of the queue. */
function toTheLast(queue: Subscriber<Turn>[], turns$: Observable<Turn>): Observable<Turn> {
  return new Observable((subscriber) => {
    queue.push(subscriber);
    subscriber.add(() => queue.splice(queue.indexOf(subscriber), 1));
    return turns$.subscribe({
      next: (turn) => (turn.admitted ? queue.at(-1) : subscriber)?.next(turn),
      error: (error: unknown) => {
        subscriber.error(error);
      },
    });
  });
}

/**
 * Seeded defects of a backend. The rules of judge.ts must detect them like defects of the core, because a
 * wrong backend also breaks locks.
 */
export const BACKEND_DEFECTS: readonly Defect[] = [
  inSession('a backend admits two entries', ['exclusive', 'order', 'ends first'], (session) => ({
    enqueue: (spec) => session.enqueue({ ...spec, limit: 2 }),
  })),
  inSession('a backend serves the last entry first', 'order', (session, server) => ({
    enqueue: async (spec) => {
      const placement = await session.enqueue(spec);
      if (placement.turn.admitted) return placement;
      return { ...placement, turns$: toTheLast(lineOf(server, spec.queue), placement.turns$) };
    },
  })),
  inSession('tokens do not grow', 'tokens', (session) => ({
    enqueue: async (spec) => ({ ...(await session.enqueue(spec)), token: 1n }),
  })),
  inSession(
    'a renewal proves more than the remaining time',
    ['ends first', 'exclusive', 'told in time'],
    (session) => ({ renew: async (signal) => 2 * (await session.renew(signal)) }),
  ),
  inSession(
    'a second removal removes the entry of another claim',
    ['signal', 'outcome', 'exclusive', 'order', 'ends first'],
    (session, server) => ({
      remove: async (queue, id) => {
        if (await session.remove(queue, id)) return true;
        const first = server.queues().get(queue)?.[0];
        return first !== undefined && server.evict(first.key);
      },
    }),
  ),
  inSession(
    'a removal is not final: an enqueue that was lost arrives after it',
    ['nothing left', 'progress'],
    (session) => {
      const lost = new Map<string, () => unknown>();
      return {
        enqueue: (spec) => {
          lost.set(spec.id, () => session.enqueue(spec).catch(() => undefined));
          return session.enqueue(spec).then((placement) => {
            lost.delete(spec.id);
            return placement;
          });
        },
        remove: async (queue, id) => {
          const there = await session.remove(queue, id);
          lost.get(id)?.();
          return there;
        },
      };
    },
  ),
];
