import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { livedSince } from '@queuelock/harness/lived-time';
import { Call } from './call.ts';
import { Player } from './player.ts';
import { areEqual, differenceOf, violationsOf, type Problem } from './problem.ts';
import type { Moment, Script } from './script.ts';
import type { Store } from './store.ts';

/**
 * Longest time in milliseconds for a store to reach the state that the memory backend reached after the same
 * step. It is long enough for a busy machine.
 */
const REACHED_WITHIN_MS = 20_000;
const POLL_MS = 3;

/**
 * Plays a script on a store. After each step it waits until the store is in the state that the memory backend
 * reached after this step. Returns the first difference, and the violations of rules.
 */
export async function compare(store: Store, script: Script): Promise<readonly Problem[]> {
  const player = new Player({ store, prefix: newPrefix(script), ...script });
  try {
    const problem = await firstDifference(player, script.moments);
    return [...(problem ? [problem] : []), ...violationsOf(player.history, store)];
  } finally {
    await player.close();
  }
}

/**
 * Returns a new prefix of queue names for playing a script once, so that no other run uses the same queues.
 */
export function newPrefix({ seed }: Pick<Script, 'seed'>): string {
  return `differential-${seed}-${randomBytes(4).toString('hex')}-`;
}

async function firstDifference(player: Player, moments: readonly Moment[]): Promise<Problem | undefined> {
  for (const moment of moments) {
    const problem = await reach(player, moment);
    if (problem) return problem;
  }
  return undefined;
}

async function reach(player: Player, { step, state }: Moment): Promise<Problem | undefined> {
  const begun = performance.now();
  const call = new Call(player.perform(step));
  while (!call.isSettled || !player.isIdle || !areEqual(state, player.state)) {
    if (call.failure !== undefined) return { rule: 'call', detail: `${step.act}: ${call.failure}` };
    if (livedSince(begun) > REACHED_WITHIN_MS) return differenceOf(step, state, player.state);
    await pause(POLL_MS);
  }
  return undefined;
}
