import { product } from '../product.ts';
import type { StoreName } from '../run/plan.ts';
import { planOf } from '../run/plan-of.ts';
import { play } from '../run/play.ts';
import type { Outcome, Slice, Violation } from './progress.ts';

const store = process.argv[2] as StoreName;

async function playSlice({ from, to }: Slice): Promise<Outcome> {
  const sum = { events: 0, grants: 0 };
  const violations: Violation[] = [];
  for (let seed = from; seed < to; seed += 1) {
    const { broken, events, grants, story } = await play(product, planOf(seed, store));
    sum.events += events;
    sum.grants += grants;
    const detail = story.find((line) => line.includes('BROKEN'))?.trim() ?? '';
    if (broken) violations.push({ seed, rule: broken, detail });
  }
  return { ...sum, violations };
}

// The process ends with its parent, in the middle of a slice too.
process.on('disconnect', () => process.exit());
process.on('message', (slice: Slice) => void playSlice(slice).then((outcome) => process.send?.(outcome)));
process.send?.('ready');
