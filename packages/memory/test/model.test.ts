import { expect } from 'chai';
import fc from 'fast-check';
import type { EntrySpec, Placement } from '@queuelock/core/backend';
import { createMemoryServer, memory, virtualClock, type MemoryEntry } from '@queuelock/memory';
import { openSession, recordTurns, newSpec } from './actors.ts';

/** The rule of admission for all kinds of locks, implemented independently of the code under test. */
function mayGo(entries: readonly MemoryEntry[], place: number): boolean {
  const own = entries[place];
  if (!own) return false;
  let taken = 0;
  for (const ahead of entries.slice(0, place)) if (!ahead.shared || !own.shared) taken += ahead.permits;
  return taken === 0 || taken + own.permits <= own.limit;
}

const kind = fc.constantFrom(
  { shared: false, limit: 1 },
  { shared: true, limit: 1 },
  { shared: false, limit: 3 },
  { shared: false, limit: 3, permits: 2 },
);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('enqueue' as const), who: fc.nat(2), kind }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('tryEnqueue' as const), who: fc.nat(2), kind }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('remove' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('die' as const), who: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('evict' as const), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('share' as const), which: fc.nat(20) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('resize' as const),
      which: fc.nat(20),
      limit: fc.integer({ min: 1, max: 4 }),
    }),
  },
);

describe('any history of a memory server', () => {
  it('contains each admission once, in the order of the queue and with growing tokens', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const server = createMemoryServer({ clock: virtualClock() });
        const backend = memory({ server });
        const sessions = [await openSession(backend), await openSession(backend), await openSession(backend)];
        const entered: { spec: EntrySpec; placement: Placement; turns: ReturnType<typeof recordTurns> }[] =
          [];
        for (const next of steps) {
          const present = server.queues().get('q') ?? [];
          if (next.do === 'die') {
            server.expireSession(sessions[next.who]!.id);
            sessions[next.who] = await openSession(backend);
          } else if ('which' in next) {
            const entry = present[next.which % Math.max(1, present.length)];
            if (!entry) continue;
            const owner = sessions.find(({ id }) => id === entry.sessionId)!;
            if (next.do === 'remove') expect(await owner.remove('q', entry.id)).to.equal(true);
            else if (next.do === 'evict') expect(server.evict(entry.key)).to.equal(true);
            else if (next.do === 'share') expect(await owner.share!('q', entry.id, '')).to.equal(true);
            else await owner.enqueue({ ...entry, queue: 'q', limit: next.limit });
          } else {
            const spec = newSpec(next.kind);
            const placement = await sessions[next.who]![next.do](spec);
            if (placement) entered.push({ spec, placement, turns: recordTurns(placement.turns$) });
          }
          const entries = server.queues().get('q') ?? [];
          const admitted = entries.map((entry) => entry.admitted);
          // An enqueue of an existing entry with a smaller limit takes no permits from entries that are
          // already admitted.
          const were = new Set(present.filter((entry) => entry.admitted).map(({ id }) => id));
          expect(admitted).to.deep.equal(
            entries.map(({ id }, place) => were.has(id) || mayGo(entries, place)),
          );
        }
        const orders = entered.map(({ placement }) => placement.order);
        expect(orders).to.deep.equal([...orders].sort((a, b) => (a < b ? -1 : 1)));
        server.close();
        for (const { turns } of entered) {
          // The turns of an entry are at most one wait and one admission. The loss of the entry follows as an
          // error.
          expect(turns.seen.join()).to.match(/^(false,)?(true,)?(ENTRY|SESSION)_LOST$/);
        }
        expect(server.watcherCount).to.equal(0);
      }),
      { numRuns: 300 },
    );
  });
});
