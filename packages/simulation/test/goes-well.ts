import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SafetyViolation } from '@queuelock/harness/safety';
import { snapshotOf } from '../src/picture.ts';
import type { Product } from '../src/product.ts';
import { UNSAFE } from '../src/run/judge.ts';
import { RULES } from '../src/run/rule.ts';
import type { StoreName } from '../src/run/plan.ts';
import { planOf } from '../src/run/plan-of.ts';
import { play, type Played } from '../src/run/play.ts';
import { shrink } from '../src/run/shrink.ts';

/** A simulated run, by its seed and store, with the folder for its picture. */
export interface Run {
  readonly seed: number;
  readonly store: StoreName;
  /** Folder for the picture. Default: `simulation-report`. */
  readonly out?: string;
}

/**
 * Simulates the run of a seed. If it breaks a rule, finds a smaller run that breaks the same rule. Then
 * writes the picture of that run to `<out>/<store>-<seed>.svg`, and throws an error with its log.
 */
export async function goesWell(
  product: Product,
  { seed, store, out = 'simulation-report' }: Run,
): Promise<Played> {
  const plan = planOf(seed, store);
  const played = await play(product, plan);
  const { broken } = played;
  if (!broken) return played;
  const small = await shrink(product, plan, broken);
  const title = `seed ${seed} on ${store} breaks "${broken}": ${RULES[broken]}`;
  const snapshot = join(out, `${store}-${seed}.svg`);
  mkdirSync(out, { recursive: true });
  writeFileSync(snapshot, snapshotOf(small.played.facts, title));
  const story = [
    title,
    `${plan.members} members of ${plan.version}${plan.isProxied ? ` behind grpc-proxies` : ''}; what is left of the plan, drawn in ${snapshot}:`,
    JSON.stringify({ clients: small.plan.clients, faults: small.plan.faults }),
    ...small.played.story,
  ].join('\n');
  throw UNSAFE.has(broken) ? new SafetyViolation(story) : new Error(story);
}
