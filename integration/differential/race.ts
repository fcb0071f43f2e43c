import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { chanceOf } from '@queuelock/harness/chance';
import { livedSince } from '@queuelock/harness/lived-time';
import { Call } from './call.ts';
import type { Claim } from './claim.ts';
import { newPrefix } from './compare.ts';
import { Player } from './player.ts';
import { violationsOf, type Problem } from './problem.ts';
import type { Script } from './script.ts';
import { textOf, type Step } from './step.ts';
import type { Store } from './store.ts';

/**
 * Longest time in milliseconds until all claims of a race are over. It is longer than a TTL, because an entry
 * whose removal did not reach the store may stay until its session ends.
 */
const QUIET_WITHIN_MS = 60_000;
const POLL_MS = 5;
/** Matches the ways in which a claim may end on a healthy store, whatever the other clients do. */
const EXPLAINED =
  /, released|by the abort|TIMEOUT|QUEUE_FULL|LIMIT_MISMATCH|CLOSED|SESSION_LOST|ENTRY_LOST|OWNERSHIP_LOST/;
const DRAIN: Step = { act: 'drain' };
/** Text that describes the state of a queue without entries. */
const EMPTY = 'live: ';
/** Kinds of steps after which a client waits for the response of the store before its next step. */
const AWAITED: ReadonlySet<Step['act']> = new Set(['end session', 'close', 'move', 'evict', 'remove']);

/**
 * Plays the steps of all clients at the same time, the steps of each client in their order. Then every claim
 * is released once it holds.
 */
export async function race(store: Store, script: Script): Promise<readonly Problem[]> {
  const player = new Player({ store, prefix: newPrefix(script), ...script });
  const calls: NamedCall[] = [];
  try {
    const next = chanceOf(script.seed);
    await Promise.all(lanesOf(script).map((lane) => run(lane, { player, calls, next })));
    calls.push({ step: DRAIN, call: new Call(player.perform(DRAIN)) });
    const problems = await untilQuiet(player, calls);
    return [
      ...problems,
      ...player.claims.flatMap((claim) => unexplained(claim, store)),
      ...violationsOf(player.history, store),
    ];
  } finally {
    await player.close();
  }
}

interface NamedCall {
  readonly step: Step;
  readonly call: Call;
}

/** Returns the steps of each client, and those of the operator. */
function lanesOf({ moments }: Script): readonly (readonly Step[])[] {
  const clients = new Map<string, string>();
  const lanes = new Map<string, Step[]>();
  for (const { step } of moments) {
    if (step.act === 'drain' || step.act === 'list') continue;
    if (step.act === 'claim') clients.set(step.claim, step.client);
    const isOperators = step.act === 'evict' || step.act === 'remove' || step.act === 'limit';
    const lane = isOperators ? 'operator' : 'client' in step ? step.client : clients.get(step.claim)!;
    lanes.set(lane, [...(lanes.get(lane) ?? []), step]);
  }
  return [...lanes.values()];
}

interface Track {
  readonly player: Player;
  readonly calls: NamedCall[];
  readonly next: () => number;
}

async function run(lane: readonly Step[], { player, calls, next }: Track): Promise<void> {
  for (const step of lane) {
    const performed = player.perform(step);
    calls.push({ step, call: new Call(performed) });
    if (AWAITED.has(step.act)) await performed.catch(() => undefined);
    if (step.act === 'claim' && next() < 0.5)
      await player.claims.find(({ name }) => name === step.claim)!.leaves('joining');
    if (next() < 0.5) await nextTurn();
  }
}

/**
 * Waits until all calls of the race have settled, all claims have ended and all queues are empty. Resolves
 * with the rules that are broken.
 */
async function untilQuiet(player: Player, calls: readonly NamedCall[]): Promise<readonly Problem[]> {
  const begun = performance.now();
  for (;;) {
    const failed = calls.find(({ call }) => call.failure !== undefined);
    if (failed) return [{ rule: 'call', detail: `${textOf(failed.step)}: ${failed.call.failure}` }];
    const busy = [
      ...calls.flatMap(({ step, call }) => (call.isSettled ? [] : [`"${textOf(step)}" has not settled`])),
      ...player.claims.flatMap(({ name, status, text }) => (status === 'over' ? [] : [`${name}: ${text}`])),
      ...[...player.state].flatMap(([key, text]) =>
        /^queue/.test(key) && text !== EMPTY ? [`${key}: ${text}`] : [],
      ),
    ];
    if (busy.length === 0) return [];
    if (livedSince(begun) > QUIET_WITHIN_MS) return [{ rule: 'quiet', detail: busy.join('\n') }];
    await pause(POLL_MS);
  }
}

function unexplained({ name, status, text }: Claim, { explained }: Store): readonly Problem[] {
  return status !== 'over' || EXPLAINED.test(text) || explained?.test(text)
    ? []
    : [{ rule: 'outcome', detail: `${name}: ${text}` }];
}
