import { expect } from 'chai';
import type { Site } from '../scenarios/stores.ts';
import { until } from '../services/until.ts';
import { judge, type Verdict } from './judge.ts';
import type { Kind } from './kinds.ts';
import { queuesOf, type Line } from './rows.ts';
import { endOf, freshName } from './mix.ts';
import { startParticipants, type Participant, type Task } from './participant.ts';

/** What may happen to a participant. */
export type Lapse = 'crash' | 'freeze';

export interface LapseRun extends Verdict {
  /** By the title of the kind: from the lapse of a holder to the grant of the next one, in milliseconds. */
  readonly gapsMs: ReadonlyMap<string, number>;
  /** From the moment when it went on to the moment when it heard of its loss, in milliseconds. */
  readonly wakesMs: ReadonlyMap<string, number>;
  readonly participants: readonly Participant[];
}

interface Standing {
  readonly holders: readonly Participant[];
  readonly waiters: readonly Participant[];
  readonly last: Participant;
}

const IN_LINE_WITHIN_MS = 20_000;

/**
 * All stand in line. Then all waiters of the pairs stop; then the holders, each as soon as it holds. Those that were frozen go on when the next
 * one holds, or at the end.
 */
export async function runLapses(site: Site, line: Line, lapse: Lapse): Promise<LapseRun> {
  const standing = await standInLine(site, line, freshName(lapse));
  const { holders, waiters, last } = standing;
  const stop = (it: Participant): Promise<void> => (lapse === 'crash' ? it.crash() : it.freeze());
  const gapsMs = new Map<string, number>();
  const wakesMs = new Map<string, number>();
  await holders[0]!.untilEvent('acquired');
  await Promise.all(waiters.map(stop));
  for (const [at, holder] of holders.entries()) {
    await stop(holder);
    const { t } = await (holders[at + 1] ?? last).untilEvent('acquired');
    gapsMs.set(holder.kind.title, millisBetween(stampOf(holder, lapse === 'crash' ? 'killed' : 'frozen'), t));
    if (lapse === 'freeze') await wake(holder, wakesMs);
  }
  last.tell();
  if (lapse === 'freeze') {
    for (const waiter of waiters) waiter.thaw();
    // Some of them stand in line again.
    for (const waiter of waiters) waiter.enough();
    await endOf([...holders, ...waiters]);
  }
  await endOf([last]);
  const participants = [...holders, ...waiters, last];
  const prompt = new Set(participants.filter(({ kind }) => kind.language === 'Node').map(({ id }) => id));
  const shared = new Set(participants.filter(({ kind }) => kind.shared).map(({ id }) => id));
  const verdict = judge(
    participants.flatMap(({ events }) => events),
    { prompt, shared },
  );
  return { ...verdict, gapsMs, wakesMs, participants };
}

async function standInLine(site: Site, line: Line, name: string): Promise<Standing> {
  const place = { endpoint: site.endpoint, url: site.url(), name, rounds: 1, holdMs: -1, ttlMs: site.ttlMs };
  const taskOf = (kind: Kind, what: string): Task => ({ ...place, kind, id: `${what} ${kind.title}` });
  const tasks = line.pairs.flatMap(({ holder, waiter }) => [
    taskOf(holder, 'holder'),
    ...(waiter ? [taskOf(waiter, 'waiter')] : []),
  ]);
  const order = await startParticipants([...tasks, taskOf(line.last, 'last')]);
  for (const [at, participant] of order.entries()) {
    participant.tell();
    await until(() => expectInLine(site, queuesOf(name, line), at + 1), {
      what: `${participant.id} stands in line`,
      withinMs: IN_LINE_WITHIN_MS,
    });
  }
  const those = (what: string): Participant[] => order.filter(({ id }) => id.startsWith(what));
  return { holders: those('holder'), waiters: those('waiter'), last: order.at(-1)! };
}

/** Of a semaphore who is through waits no more. */
async function expectInLine(site: Site, [waiting, having]: readonly string[], count: number): Promise<void> {
  const through = having === undefined ? 0 : 1;
  expect(await site.entries(waiting!)).to.have.lengthOf(count - through);
  if (count === 1 && having !== undefined) expect(await site.entries(having)).to.have.lengthOf(1);
}

/** Goes on; whoever can hear of the loss does, and the others release what they have not. */
async function wake(holder: Participant, wakesMs: Map<string, number>): Promise<void> {
  holder.thaw();
  if (holder.kind.deaf) holder.tell();
  const { ev, t } = await holder.until(({ ev }) => ev === 'lost' || ev === 'releasing', 'it is over');
  if (ev === 'lost') wakesMs.set(holder.kind.title, millisBetween(stampOf(holder, 'thawed'), t));
}

function stampOf({ events }: Participant, ev: 'killed' | 'frozen' | 'thawed'): string {
  return events.findLast((event) => event.ev === ev)!.t;
}

function millisBetween(from: string, to: string): number {
  return Number(BigInt(to) - BigInt(from)) / 1e6;
}
