import { setTimeout as pause } from 'node:timers/promises';
import { repeatUntilDefinite } from '@queuelock/core/backend';
import { zookeeper } from '@queuelock/zookeeper';
import { SINGLE, outcome, type Bench } from '../bench.ts';
import { driverTo } from './clients.ts';

/** Opens sessions on the given hosts again and again for `ms` milliseconds, as the core does. */
export async function opensFor(bench: Bench, ms: number, hosts: readonly string[]): Promise<void> {
  const backend = bench.keep(zookeeper({ hosts, ...SINGLE }), (made) => made.close());
  const stop = new AbortController();
  const opening = outcome(repeatUntilDefinite(async () => backend.open(10_000, stop.signal), stop.signal));
  await pause(ms);
  stop.abort(new Error('seen enough'));
  await opening;
}

/**
 * Starts to open a session over servers that never grant a session. Returns a list to which the time of each
 * attempt is added.
 */
export function attemptsOf(bench: Bench, addresses: readonly string[]): readonly number[] {
  const moments: number[] = [];
  driverTo(bench, [], {
    ttlMs: 10_000,
    addresses: () => {
      moments.push(performance.now());
      return addresses;
    },
  });
  return moments;
}
