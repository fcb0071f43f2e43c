import { inSession, type Defect } from './defect.ts';

/** What a backend can get wrong: the rules are those of the server, too. */
export const BACKEND_DEFECTS: readonly Defect[] = [
  inSession('a backend admits two', ['exclusive', 'order', 'ends first'], (session) => ({
    enqueue: (spec) => session.enqueue({ ...spec, limit: 2 }),
  })),
  inSession('tokens do not grow', 'tokens', (session) => ({
    enqueue: async (spec) => ({ ...(await session.enqueue(spec)), token: 1n }),
  })),
  inSession(
    'a renewal proves more than there is',
    ['ends first', 'exclusive', 'told in time'],
    (session) => ({ renew: async (signal) => 2 * (await session.renew(signal)) }),
  ),
  inSession(
    'a second removal takes the entry of another',
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
