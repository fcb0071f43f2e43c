import { expect } from 'chai';
import { endScripts } from '@queuelock/harness/services/script-process';
import { stores } from '../scenarios/stores.ts';
import type { Site } from '../scenarios/store.ts';
import { handOver, isSound, type Fault } from './handovers.ts';

const FAULTS: Record<Fault, string> = {
  frozen: 'stands still (SIGSTOP)',
  killed: 'is killed (SIGKILL)',
  cut: 'is cut from the server',
};
const COUNT = 2;

for (const store of stores) {
  describe(`a command under a lock of ${store.name}`, function () {
    this.timeout(120_000);
    let site: Site;

    before(async function () {
      if (process.platform !== 'linux') {
        this['skipReason'] = 'only Linux tells in /proc whether a process has ended';
        this.skip();
      }
      site = await store.share('cli handovers');
    });

    afterEach(endScripts);

    // Makes three faults on three locks at the same time, because the test mostly waits for TTLs: one
    // `queuelock run` is frozen, one is killed, and one is cut off from the server.
    it('has ended before the next command begins, even if its queuelock process is frozen, killed or cut off', async () => {
      const series = await Promise.all(
        (Object.keys(FAULTS) as Fault[]).map((fault) =>
          handOver({ site, name: `handover-${fault}`, fault, count: COUNT }),
        ),
      );
      const unsound = series.flat().filter((handover) => !isSound(handover));
      expect(unsound).to.deep.equal([]);
      expect(series.flat()).to.have.length(3 * COUNT);
    });
  });
}
