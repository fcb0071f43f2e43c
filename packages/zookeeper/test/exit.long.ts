import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { livedSince } from '@queuelock/harness/lived-time';
import { sharedZooKeeper } from '@queuelock/harness/services';

describe('a process that used ZooKeeper', () => {
  for (const driver of ['wire', 'native']) {
    it(`ends within two seconds after all its backends are closed, with transport ${driver}`, async () => {
      const { endpoint } = await sharedZooKeeper('exit of @queuelock/zookeeper');
      const child = fork(fileURLToPath(new URL('./whole-life.ts', import.meta.url)), [endpoint, driver]);
      const exit = once(child, 'exit');
      await once(child, 'message');
      const closedAt = performance.now();
      child.disconnect();
      expect(await exit).to.deep.equal([0, null]);
      expect(livedSince(closedAt)).to.be.lessThan(2_000);
    });
  }
});
