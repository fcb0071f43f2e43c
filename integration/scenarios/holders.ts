import type { HistoryEvent } from '@queuelock/cli/src/demo/history.ts';
import { createStamp, millisBetween } from '@queuelock/cli/src/stamp.ts';
import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { startContender, type ContenderProcess } from './contenders.ts';
import type { Site } from './store.ts';
import { safeVerdict } from './verdict.ts';
import type { WorkEvent } from './work-event.ts';
import { WorkerProcess } from './workers.ts';

/**
 * A test's action on a holder that has a waiter behind it. Resolves with whether the holder still held when
 * the action began.
 */
type Story = (holder: WorkerProcess, next: ContenderProcess) => Promise<boolean>;

// Maximum number of starts of one test. It starts again if its holder loses its session before the test acts on
// it, which happens on a slow machine.
const STARTS = 3;
/**
 * Number of kinds of callbacks in which a holder's process checks whether it holds, and acts under the lock.
 */
const CALLERS = 5;
const stamp = createStamp();

/**
 * Starts a worker that holds with the shortest TTL, and a contender that waits behind it. When the worker has
 * performed `acts` actions under the lock, calls `story`, which kills or freezes it.
 */
export async function withHolder(site: Site, name: string, acts: number, story: Story): Promise<void> {
  for (let start = 1; start <= STARTS; start += 1) {
    const place = { url: site.url(), name: `${name}-${start}` };
    const holder = new WorkerProcess({ ...place, ttlMs: site.ttlMs, id: 'holder' });
    await holder.untilEvent('acquired');
    const next = startContender({ ...place, id: 'next', holdMs: 600_000 });
    await next.untilEvent('enqueued');
    const isOver = (await holder.acts(acts)) && (await story(holder, next));
    await Promise.all([holder.kill(), next.kill()]);
    if (isOver) return;
  }
  throw new Error(`no holder of ${name} kept the lock until its story began`);
}

/**
 * Kills the holder. The waiter must not be granted the lock before the server may remove the holder's entry.
 * Resolves with whether the holder still held when it was killed.
 */
export async function killHolder(holder: WorkerProcess, next: ContenderProcess): Promise<boolean> {
  await holder.kill();
  const { t } = await next.untilEvent('acquired');
  safely(() => expect(millisBetween(holder.freeAt, t)).to.be.at.least(0));
  return !hasLost(holder.events);
}

/** Freezes the holder until the next client holds, and resumes it. From then on the holder must not act. */
export async function freezeHolder(holder: WorkerProcess, next: ContenderProcess): Promise<boolean> {
  const stopPoking = await holder.poke();
  await holder.freeze();
  await next.untilEvent('acquired');
  const thawnAt = stamp();
  await holder.thaw();
  const callers = new Set<string | undefined>();
  await holder.until(({ ev, by }) => ev === 'refrained' && callers.add(by).size === CALLERS);
  stopPoking();
  await next.stop();
  expectNoOverlap(holder, next);
  expectNoActAfter(thawnAt, holder.events);
  return !hasLost(holder.events.filter(({ t }) => BigInt(t) <= BigInt(thawnAt)));
}

function hasLost(events: readonly WorkEvent[]): boolean {
  return events.some(({ ev }) => ev === 'lost');
}

/**
 * Expects that a holder which was resumed after a freeze noticed the loss of the lock first. Its abort
 * listener was called before all its other callbacks, or before the freeze. Every later read of the lock must
 * have returned false.
 */
function expectNoActAfter(thawnAt: string, events: readonly WorkEvent[]): void {
  const afterwards = events.filter(({ t }) => BigInt(t) > BigInt(thawnAt));
  const first = afterwards.findIndex(({ ev }) => ev === 'lost');
  expect(afterwards.map(({ ev }) => ev)).to.include('refrained');
  safely(() => {
    expect(first).to.be.at.most(0);
    expect(hasLost(events)).to.equal(true);
    expect(afterwards.map(({ ev }) => ev)).to.not.include('acted');
  });
}

/**
 * Expects that the holds of the frozen worker and of the next client do not overlap. The worker's hold counts
 * only until its proven time ended, since every later read of `held` returned false.
 */
function expectNoOverlap({ events, provenUntil }: WorkerProcess, next: ContenderProcess): void {
  const story: HistoryEvent[] = events.flatMap(({ ev, ...rest }): HistoryEvent[] => {
    if (ev === 'acted' || ev === 'refrained' || ev === 'listening') return [];
    return [ev === 'lost' ? { ...rest, ev, t: provenUntil } : { ...rest, ev }];
  });
  const { violations, grants } = safeVerdict([...story, ...next.events]);
  expect({ violations, grants }).to.deep.equal({ violations: [], grants: 2 });
}
