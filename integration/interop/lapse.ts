import { millisBetween } from '@queuelock/cli/src/stamp.ts';
import { expect } from 'chai';
import { livedBetween } from '@queuelock/harness/lived-time';
import type { Site } from '../scenarios/store.ts';
import { until } from '@queuelock/harness/services/until';
import type { Verdict } from './judge.ts';
import type { Kind } from './kinds.ts';
import { queuesOf } from './rows.ts';
import type { Line } from './row.ts';
import { endOf, freshName } from './mix.ts';
import { isOurs, startParticipants, type Participant, type Task } from './participant.ts';
import { Trial } from './trial.ts';

/** The fault of a participant: `crash` kills its process, and `freeze` stops it for a while. */
export type Lapse = 'crash' | 'freeze';

export interface LapseRun extends Verdict {
  /**
   * For each kind of participant, by its title: milliseconds from the fault of a holder to the next grant.
   */
  readonly gapsMs: ReadonlyMap<string, number>;
  /**
   * For each kind of participant, by its title: milliseconds from the end of a freeze to the notification of
   * the loss.
   */
  readonly wakesMs: ReadonlyMap<string, number>;
  readonly participants: readonly Participant[];
}

interface Standing {
  readonly holders: readonly Participant[];
  readonly waiters: readonly Participant[];
  readonly last: Participant;
}

const IN_LINE_WITHIN_MS = 20_000;
// Number of attempts to make all participants join the queue. An attempt fails if a slow machine lets one of
// them lose its session.
const STARTS = 3;

/**
 * Makes all participants join a queue. Then it kills or freezes all waiters. After them it kills or freezes
 * each holder as soon as it is granted. A frozen holder resumes when the next one holds, and frozen waiters
 * resume at the end.
 */
export async function runLapses(site: Site, line: Line, lapse: Lapse): Promise<LapseRun> {
  const { holders, waiters, last } = await standInLine(site, line, lapse);
  const participants = [...holders, ...waiters, last];
  const prompt = new Set(participants.filter(({ kind }) => isOurs(kind)).map(({ id }) => id));
  const shared = new Set(participants.filter(({ kind }) => kind.shared).map(({ id }) => id));
  const trial = new Trial({ participants, terms: { prompt, shared } });
  const stop = (it: Participant): Promise<void> => (lapse === 'crash' ? it.crash() : it.freeze());
  const gapsMs = new Map<string, number>();
  const wakesMs = new Map<string, number>();
  await holders[0]!.untilEvent('acquired');
  await Promise.all(waiters.map(stop));
  for (const [at, holder] of holders.entries()) {
    await stop(holder);
    const { t } = await (holders[at + 1] ?? last).untilEvent('acquired');
    gapsMs.set(holder.kind.title, livedBetween(stampOf(holder, lapse === 'crash' ? 'killed' : 'frozen'), t));
    if (lapse === 'freeze') await wake(holder, wakesMs);
  }
  last.tell();
  if (lapse === 'freeze') {
    for (const waiter of waiters) waiter.thaw();
    // Orders the waiters to end after their present round, because some of them have already joined the queue
    // again.
    for (const waiter of waiters) waiter.enough();
    await endOf([...holders, ...waiters]);
  }
  await endOf([last]);
  return { ...trial.verdict(), gapsMs, wakesMs, participants };
}

async function standInLine(site: Site, line: Line, lapse: Lapse): Promise<Standing> {
  const left: string[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    const name = freshName(lapse);
    const order = await startParticipants(tasksOf(site, line, name));
    const leaver = await enterInOrder(order, site, queuesOf(name, line));
    const those = (what: string): Participant[] => order.filter(({ id }) => id.startsWith(what));
    if (leaver === undefined)
      return { holders: those('holder'), waiters: those('waiter'), last: order.at(-1)! };
    left.push(leaver);
    await Promise.all(order.map((participant) => participant.crash()));
  }
  throw new Error(`they never stood in line together: ${left.join('; ')}`);
}

function tasksOf(site: Site, line: Line, name: string): Task[] {
  const place = { endpoint: site.endpoint, url: site.url(), name, rounds: 1, holdMs: -1, ttlMs: site.ttlMs };
  const taskOf = (kind: Kind, what: string): Task => ({ ...place, kind, id: `${what} ${kind.title}` });
  const tasks = line.pairs.flatMap(({ holder, waiter }) => [
    taskOf(holder, 'holder'),
    ...(waiter ? [taskOf(waiter, 'waiter')] : []),
  ]);
  return [...tasks, taskOf(line.last, 'last')];
}

/**
 * Makes the participants join the queue one after another. Returns an error message if an entry was lost
 * before all had joined. In a semaphore, the first participant holds the permit and is not in the queue of
 * waiters.
 */
async function enterInOrder(
  order: readonly Participant[],
  site: Site,
  queues: readonly string[],
): Promise<string | undefined> {
  const [waiting = '', having] = queues;
  let there: readonly string[] = [];
  for (const [at, participant] of order.entries()) {
    participant.tell();
    let lost: string | undefined;
    await until(
      async () => {
        const entries = await site.entries(waiting);
        lost = having === undefined ? there.find((entry) => !entries.includes(entry)) : undefined;
        if (lost === undefined) await expectInLine(site, queues, at + 1);
        there = entries;
      },
      { what: `${participant.id} stands in line`, withinMs: IN_LINE_WITHIN_MS },
    );
    if (lost !== undefined) return `${lost} was gone when ${participant.id} came`;
  }
  return undefined;
}

/**
 * Expects that the queue has entries of `count` participants. In a semaphore, one of them holds the permit
 * and is not in the queue of waiters.
 */
async function expectInLine(site: Site, [waiting, having]: readonly string[], count: number): Promise<void> {
  const through = having === undefined ? 0 : 1;
  expect(await site.entries(waiting!)).to.have.lengthOf(count - through);
  if (count === 1 && having !== undefined) expect(await site.entries(having)).to.have.lengthOf(1);
}

/**
 * Resumes a frozen holder. Its library notifies it of the loss. If the library cannot do that, the holder
 * releases a lock that it does not hold any more.
 */
async function wake(holder: Participant, wakesMs: Map<string, number>): Promise<void> {
  holder.thaw();
  if (holder.kind.deaf) holder.tell();
  const { ev, t } = await holder.until(({ ev }) => ev === 'lost' || ev === 'releasing', 'it is over');
  if (ev === 'lost') wakesMs.set(holder.kind.title, millisBetween(stampOf(holder, 'thawed'), t));
}

function stampOf({ events }: Participant, ev: 'killed' | 'frozen' | 'thawed'): string {
  return events.findLast((event) => event.ev === ev)!.t;
}
