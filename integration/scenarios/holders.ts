import type { HistoryEvent } from '@queuelock/cli/src/demo/history.ts';
import { createStamp, millisBetween } from '@queuelock/cli/src/stamp.ts';
import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { startContender, type ContenderProcess } from './contenders.ts';
import type { Site } from './store.ts';
import { safeVerdict } from './verdict.ts';
import type { WorkEvent } from './work-event.ts';
import { WorkerProcess } from './workers.ts';

/** An action on a holder with a waiter behind it. Resolves with whether it still held then. */
type Story = (holder: WorkerProcess, next: ContenderProcess) => Promise<boolean>;

// A run does not count if a slow machine lets a holder lose its session before the action.
const STARTS = 3;
/** Number of kinds of callbacks in a worker. */
const CALLERS = 5;
const stamp = createStamp();

/** Runs the action on a worker with the shortest TTL, which has acted this many times under the lock, and a contender behind it. */
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

/** Kills the holder: the next one is granted no earlier than the server may free the entry. */
export async function killHolder(holder: WorkerProcess, next: ContenderProcess): Promise<boolean> {
  await holder.kill();
  const { t } = await next.untilEvent('acquired');
  safely(() => expect(millisBetween(holder.freeAt, t)).to.be.at.least(0));
  return !hasLost(holder.events);
}

/** Freezes the holder until the next one holds: it does not act any more. */
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
 * After the thaw its signal's listener was called before every other callback, unless it was called earlier; and every read
 * returned false.
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

/** The frozen holder could believe until its proven time ended: every later read returned false. */
function expectNoOverlap({ events, provenUntil }: WorkerProcess, next: ContenderProcess): void {
  const story: HistoryEvent[] = events.flatMap(({ ev, ...rest }): HistoryEvent[] => {
    if (ev === 'acted' || ev === 'refrained' || ev === 'listening') return [];
    return [ev === 'lost' ? { ...rest, ev, t: provenUntil } : { ...rest, ev }];
  });
  const { violations, grants } = safeVerdict([...story, ...next.events]);
  expect({ violations, grants }).to.deep.equal({ violations: [], grants: 2 });
}
