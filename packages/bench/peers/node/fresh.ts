import { setTimeout as pause } from 'node:timers/promises';
import { mean, percentile } from '../../src/stats.ts';
import type { Contender, Lock } from './contender.ts';
import { nowUs, type Parameters } from './protocol.ts';

// Number of holds of all clients together before the measured ones, to warm up. The Java program that
// measures the same scenario has the same number.
const WARM_ROUNDS = 200;
const STALL_US = 50_000;

/**
 * A function that starts a client that writes keys outside of the measured queues, over a connection of its
 * own. It resolves with a function that stops these writes.
 */
export type Noise = () => Promise<() => Promise<void>>;

/**
 * Runs several clients, each with its own connection. Each acquires the same lock again and again, holds it
 * and releases it.
 */
export async function fresh(lock: Lock, parameters: Parameters, noise: Noise): Promise<object> {
  const clients = parameters.number('clients');
  const name = parameters.text('name');
  const holdMs = parameters.number('hold', 5);
  const contenders = await Promise.all(Array.from({ length: clients }, () => lock.open()));
  await contend(contenders, { name: `${name}-warm`, rounds: Math.ceil(WARM_ROUNDS / clients), holdMs });
  const endNoise = parameters.number('noise', 0) === 1 ? await noise() : () => Promise.resolve();
  const grants = await contend(contenders, { name, rounds: parameters.number('rounds'), holdMs });
  await endNoise();
  await Promise.all(contenders.map((contender) => contender.close()));
  return summaryOf(grants);
}

interface Grant {
  readonly by: number;
  readonly heldAt: number;
  releasedAt: number;
  /** Whether another client was waiting when the client released the lock. */
  contested: boolean;
}

async function contend(
  contenders: readonly Contender[],
  { name, rounds, holdMs }: { readonly name: string; readonly rounds: number; readonly holdMs: number },
): Promise<Grant[]> {
  const grants: Grant[] = [];
  let waiting = 0;
  await Promise.all(
    contenders.map(async (contender, by) => {
      for (let round = 0; round < rounds; round += 1) {
        waiting += 1;
        const release = await contender.acquire(name);
        waiting -= 1;
        const grant: Grant = { by, heldAt: nowUs(), releasedAt: 0, contested: false };
        grants.push(grant);
        await pause(holdMs);
        grant.contested = waiting > 0;
        grant.releasedAt = nowUs();
        await release();
      }
    }),
  );
  return grants;
}

function summaryOf(grants: readonly Grant[]): object {
  const handOffs = grants.slice(1).flatMap((next, i) => {
    const before = grants[i];
    if (!before?.contested) return [];
    return [{ time: next.heldAt - before.releasedAt, sameTwice: before.by === next.by }];
  });
  const times = handOffs.map(({ time }) => time);
  return {
    mean: mean(times),
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    max: Math.max(...times),
    over50ms: times.filter((time) => time > STALL_US).length,
    handoffs: times.length,
    sameTwice: handOffs.filter(({ sameTwice }) => sameTwice).length / handOffs.length,
  };
}
