import { expect } from 'chai';
import { startEtcd } from '@queuelock/harness/services';
import { checkOptions, http2Driver } from '../src/product.ts';
import { Random } from '../src/random.ts';
import { simulatedAlone } from './simulated-alone.ts';
import { operations, transcribe } from './two-etcds.ts';

const SETTLES_MS = 130;
// Shortens the election timeout, so that etcd grants TTLs from one second up. With its default flags, the
// minimum TTL is higher.
const FLAGS = { 'heartbeat-interval': 20, 'election-timeout': 200 };

/**
 * Runs a sequence of operations on the simulated and on a real etcd, and compares every response and every
 * event.
 */
export async function compareOn(seed: number, count: number): Promise<void> {
  const list = operations(new Random(seed), count);
  const simulated = await simulatedAlone(async (driver, settle) => transcribe(driver, list, settle));
  const server = await startEtcd({ way: 'process', flags: FLAGS });
  try {
    const driver = http2Driver(server.endpoint, checkOptions({ hosts: server.endpoint }));
    const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, SETTLES_MS));
    const real = await transcribe(driver, list, settle);
    driver.close();
    real.answers.forEach((response, i) => {
      const requested = `seed ${seed}, number ${i}: ${shown(list[i])}`;
      expect(simulated.answers[i], requested).to.deep.equal(response);
    });
    expect(simulated).to.deep.equal(real);
  } finally {
    await server.stop();
  }
}

function shown(operation: unknown): string {
  return JSON.stringify(operation, (_name, value: unknown) => {
    const isBytes = typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
    return isBytes ? Buffer.from((value as { data?: number[] }).data ?? []).toString() : value;
  });
}
