import { expect } from 'chai';
import type { Site } from '../scenarios/store.ts';
import { untilNothingIsLeft } from '../scenarios/wait.ts';
import type { Hold, Verdict } from './judge.ts';
import { startParticipants, type Participant } from './participant.ts';
import type { History } from './protocol.ts';
import { queuesOf } from './rows.ts';
import type { Mix } from './row.ts';
import { Trial } from './trial.ts';

export interface Size {
  /**
   * Total number of grants of participants that wait. Grants of participants that never wait are not counted.
   */
  readonly grants: number;
  readonly holdMs: number;
}

export interface Ran extends Verdict {
  readonly history: History;
  readonly participants: readonly Participant[];
  readonly tookMs: number;
}

let names = 0;

/** Returns a queue name that was never used before. */
export function freshName(what: string): string {
  names += 1;
  return `interop-${what}-${process.pid}-${names}`;
}

/**
 * Makes all participants contend for one queue until enough grants were made. Each participant that waits in
 * the queue is granted equally often.
 */
export async function runMix(site: Site, mix: Mix, size: Size): Promise<Ran> {
  const name = freshName('mix');
  const kinds = mix.parties.flatMap(({ kind, count }) => Array.from({ length: count }, () => kind));
  const waiting = kinds.filter(({ visits }) => !visits).length;
  const place = { endpoint: site.endpoint, url: site.url(), name, holdMs: size.holdMs };
  const participants = await startParticipants(
    kinds.map((kind, at) => ({
      ...place,
      kind,
      id: `${kind.title} ${at + 1}`,
      rounds: kind.visits ? 0 : Math.ceil(size.grants / waiting),
    })),
  );
  const shared = new Set(participants.filter(({ kind }) => kind.shared).map(({ id }) => id));
  const terms = { limit: mix.permits ?? 1, shared };
  const trial = new Trial({ participants, terms, ...(mix.control ? { control: true } : {}) });
  const begun = performance.now();
  for (const participant of participants) participant.tell();
  await endOf(participants.filter(({ kind }) => !kind.visits));
  const tookMs = performance.now() - begun;
  const visitors = participants.filter(({ kind }) => kind.visits);
  for (const visitor of visitors) visitor.enough();
  await endOf(visitors);
  for (const queue of queuesOf(name, mix)) await untilNothingIsLeft(site, queue);
  return { ...trial.verdict(), history: trial.history, participants, tookMs };
}

/** Resolves when all given participants have ended. Fails if one of them ended by an error. */
export async function endOf(participants: readonly Participant[]): Promise<void> {
  const endings = await Promise.all(
    participants.map(async ({ id, ended }) => ({
      id,
      code: (await ended).code,
      stderr: (await ended).stderr,
    })),
  );
  expect(endings).to.deep.equal(participants.map(({ id }) => ({ id, code: 0, stderr: '' })));
}

/**
 * Returns the median time in milliseconds from the end of a hold to the beginning of the next one. Holds that
 * overlap do not count.
 */
export function medianHandOverMs(holds: readonly Hold[]): number {
  const gaps = holds.slice(1).map(({ from }, at) => Number(from - holds[at]!.to) / 1e6);
  const positive = gaps.filter((gap) => gap >= 0).sort((a, b) => a - b);
  return positive[Math.floor(positive.length / 2)] ?? NaN;
}
