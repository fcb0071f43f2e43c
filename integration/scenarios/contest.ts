import { holdsOf, turnsOf, type HistoryEvent, type Hold } from '@queuelock/cli/src/demo/history.ts';
import { expect } from 'chai';
import { until } from '@queuelock/harness/services/until';
import { startContender } from './contenders.ts';
import type { Foreigners } from './foreign.ts';
import type { Site } from './store.ts';
import { safeVerdict } from './verdict.ts';

/** How many processes contend for a lock, and how many times each of them joins the queue. */
interface Crowd {
  readonly contenders: number;
  readonly rounds: number;
}

interface OurCrowd extends Crowd {
  readonly holdMs?: number;
}

/**
 * Runs processes that contend for a lock, as many as `crowd` states, to their end. Resolves with the events
 * of all.
 */
export async function contend(site: Site, name: string, crowd: OurCrowd): Promise<HistoryEvent[]> {
  const contenders = Array.from({ length: crowd.contenders }, (_, i) =>
    startContender({ ...crowd, url: site.url(), name, id: `ours-${i + 1}` }),
  );
  const endings = await Promise.all(contenders.map(({ ended }) => ended));
  expect(endings).to.deep.equal(contenders.map(() => ({ code: 0, signal: null, stderr: '' })));
  return contenders.flatMap(({ events }) => events);
}

/**
 * Expects that exclusion, order and tokens are right, and that every process was granted the lock and has
 * released it. Returns the holds in order.
 */
export function expectServed(history: readonly HistoryEvent[], count: number): Hold[] {
  const { violations, grants, served } = safeVerdict(history);
  expect({ violations, grants, served }).to.deep.equal({ violations: [], grants: count, served: count });
  return holdsOf(turnsOf(history));
}

/**
 * Lets queuelock's processes and clients of another library contend in one queue, and checks their history.
 * Resolves with how often the lock passed between a process of queuelock and another client.
 */
export async function expectServedTogether(
  site: Site,
  foreign: Foreigners,
  { ours, theirs }: { readonly ours: OurCrowd; readonly theirs: Crowd },
): Promise<number> {
  // A further process holds the lock until all contenders have joined the queue, because they take different
  // times to start.
  const gatekeeper = startContender({ url: site.url(), name: 'mixed', id: 'gate', holdMs: 600_000 });
  await gatekeeper.untilEvent('acquired');
  const contending = Promise.all([
    foreign.contend({ endpoint: site.endpoint, name: 'mixed', ...theirs }),
    contend(site, 'mixed', ours),
  ]);
  const gathered = until(
    async () => {
      expect(await site.entries('mixed')).to.have.lengthOf(1 + ours.contenders + theirs.contenders);
    },
    { what: 'all stand in line', withinMs: 60_000 },
  );
  await Promise.race([gathered, contending]);
  await gatekeeper.stop();
  const count = ours.contenders * ours.rounds + theirs.contenders * theirs.rounds;
  const holds = expectServed((await contending).flat(), count);
  const isOurs = holds.map(({ id }) => id.startsWith('ours-'));
  return isOurs.filter((isOne, i) => i > 0 && isOne !== isOurs[i - 1]).length;
}

/**
 * Returns copies of a history of holds, each with one violation in the middle, to test whether the checker
 * finds it.
 */
export function spoil(history: readonly HistoryEvent[]): { what: string; spoilt: HistoryEvent[] }[] {
  const holds = holdsOf(turnsOf(history));
  const [before, after] = holds.slice(holds.length / 2);
  const change = (hold: Hold, ev: HistoryEvent['ev'], to: Partial<HistoryEvent>): HistoryEvent[] =>
    history.map((event) =>
      event.id === hold.id && event.n === hold.n && event.ev === ev ? { ...event, ...to } : event,
    );
  const sameToken = { token: String(before!.order), zxid: String(before!.fencingToken) };
  return [
    {
      what: 'a release a nanosecond after the next grant',
      spoilt: change(before!, 'released', { t: String(after!.from + 1n) }),
    },
    {
      what: 'a grant ahead of the one before',
      spoilt: change(after!, 'acquired', { t: String(before!.from - 1n) }),
    },
    { what: 'a token given twice', spoilt: change(after!, 'acquired', sameToken) },
    {
      what: 'a request that was never granted',
      spoilt: history.filter(
        ({ id, n, ev }) => id !== after!.id || n !== after!.n || ev === 'requesting' || ev === 'enqueued',
      ),
    },
  ];
}
