import { expect } from 'chai';
import type { Site } from '../scenarios/store.ts';
import { until } from '@queuelock/harness/services/until';
import type { Verdict } from './judge.ts';
import type { Kind } from './kinds.ts';
import { endOf, freshName } from './mix.ts';
import { startParticipants, type Participant, type Task } from './participant.ts';
import type { Election } from './row.ts';
import { Trial } from './trial.ts';

export interface Reigns extends Verdict {
  /**
   * Values of the leaders in order. The same leader twice in a row counts once, since an observer that polls
   * cannot distinguish two consecutive terms of a leader.
   */
  readonly leaders: readonly string[];
  /**
   * For each observer, the leaders in the order in which it reported them. Times without a leader are left
   * out.
   */
  readonly seen: ReadonlyMap<string, readonly string[]>;
}

const TERMS = 3;
const SEEN_WITHIN_MS = 10_000;

/**
 * Runs an election in which two candidates of each kind lead one after another, each of them several times. A
 * leader resigns once all observers have reported it. One candidate of each kind is killed when it leads for
 * the second time, and then the observers must report the next leader.
 */
export async function runElection(site: Site, { candidates, observers }: Election): Promise<Reigns> {
  const name = freshName('election');
  const place = {
    endpoint: site.endpoint,
    url: site.url(),
    name,
    rounds: TERMS,
    holdMs: -1,
    ttlMs: site.ttlMs,
  };
  const taskOf = (kind: Kind, id: string): Task => ({ ...place, kind, id });
  const watching = await startParticipants(observers.map((kind) => taskOf(kind, kind.title)));
  const present = await startParticipants(
    candidates.flatMap((kind) => [taskOf(kind, `mortal ${kind.title}`), taskOf(kind, kind.title)]),
  );
  const trial = new Trial({ participants: present });
  for (const participant of [...watching, ...present]) participant.tell();
  for (const observer of watching) await observer.untilEvent('observing');
  const leaders: string[] = [];
  for (let next = await leaderIn(present, leaders); next; next = await leaderIn(present, leaders)) {
    const { leader, n } = next;
    leaders.push(leader.id);
    for (const observer of watching) await untilNamed(observer, leader.id);
    const dies = leader.id.startsWith('mortal') && n === 2;
    if (dies) await leader.crash();
    else leader.tell();
  }
  await endOf(present.filter(({ id }) => !id.startsWith('mortal')));
  for (const observer of watching) observer.enough();
  await endOf(watching);
  const named = (observer: Participant): string[] => namedBy(observer).filter((value) => value !== '');
  const seen = new Map(watching.map((observer) => [observer.id, withoutRepeats(named(observer))]));
  return { ...trial.verdict(), leaders: withoutRepeats(leaders), seen };
}

/**
 * Resolves with the next leader and the number of its term, which counts from 1 for each candidate. Resolves
 * with `undefined` when all candidates have ended.
 */
async function leaderIn(
  stored: readonly Participant[],
  before: readonly string[],
): Promise<{ leader: Participant; n: number } | undefined> {
  const over = (participant: Participant): boolean =>
    participant.events.some(({ ev }) => ev === 'done' || ev === 'killed');
  const read = async (): Promise<{ leader: Participant; n: number } | undefined> => {
    const terms = stored.flatMap((leader) =>
      leader.events.filter(({ ev }) => ev === 'acquired').map(({ n, t }) => ({ leader, n, t: BigInt(t) })),
    );
    terms.sort((a, b) => (a.t < b.t ? -1 : 1));
    const next = terms[before.length];
    if (next === undefined && !stored.every(over)) throw new Error('nobody leads');
    return next;
  };
  return until(read, { what: 'there is another leader', withinMs: SEEN_WITHIN_MS });
}

async function untilNamed(observer: Participant, leader: string): Promise<void> {
  await until(async () => expect(namedBy(observer).at(-1)).to.equal(leader), {
    what: `${observer.id} names ${leader}`,
    withinMs: SEEN_WITHIN_MS,
  });
}

function namedBy({ events }: Participant): string[] {
  return events.flatMap(({ ev, value = '' }) => (ev === 'leader' ? [value] : []));
}

function withoutRepeats(names: readonly string[]): string[] {
  return names.filter((name, at) => name !== names[at - 1]);
}
