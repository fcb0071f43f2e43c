import { systemClock } from '@queuelock/core/backend';
import { connect } from '../src/server/connect.ts';
import type { ZkDriver } from '../src/driver/driver.ts';
import { settingsOf } from '../src/api/options.ts';
import { ConnectionPacer } from '../src/base/connection-pacer.ts';

/**
 * Runs work on the server as an operator with other tools would: in a session of its own, without the
 * backend.
 */
export async function asOperator<T>(endpoint: string, work: (zk: ZkDriver) => Promise<T>): Promise<T> {
  const clock = systemClock();
  const zk = await connect(settingsOf({ hosts: [endpoint] }), {
    ttlMs: 10_000,
    clock,
    pacer: new ConnectionPacer(clock),
    signal: new AbortController().signal,
  });
  try {
    return await work(zk);
  } finally {
    await zk.close();
  }
}
