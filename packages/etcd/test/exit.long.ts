import { expect } from 'chai';
import { medianOf } from '@queuelock/harness/median';
import { sharedEtcd } from '@queuelock/harness/services';
import { DeafPort } from './deaf-port.ts';
import { endingOf } from './process-exit.ts';

const SOON_MS = 2_000;
const RUNS = 3;

describe('a process that used etcd', function () {
  this.timeout(120_000);
  let endpoint: string;
  before(async () => {
    ({ endpoint } = await sharedEtcd('exit of @queuelock/etcd'));
  });

  /**
   * Runs the script `script` in several processes, one after another. Resolves with the median of the milliseconds that such a process takes to end.
   */
  async function ending(script: URL, ...hosts: readonly string[]): Promise<number> {
    const durations: number[] = [];
    for (let run = 0; run < RUNS; run += 1) durations.push(await endingOf(script, hosts));
    return medianOf(durations);
  }

  it('ends within two seconds after everything is closed', async () => {
    expect(await ending(new URL('./whole-life.ts', import.meta.url), endpoint)).to.be.lessThan(SOON_MS);
  });

  it('exits by itself although it was connecting to a member that did not respond', async () => {
    const deaf = await DeafPort.open();
    try {
      const script = new URL('./short-life.ts', import.meta.url);
      expect(await ending(script, `127.0.0.1:${deaf.port}`, endpoint)).to.be.lessThan(SOON_MS);
    } finally {
      deaf.close();
    }
  });
});
