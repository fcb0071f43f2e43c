import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { sharedZooKeeper } from '@queuelock/harness/services';

describe('a process that used ZooKeeper', () => {
  for (const driver of ['wire', 'native']) {
    it(`exits by itself after all its backends are closed, with transport ${driver}`, async () => {
      const { endpoint } = await sharedZooKeeper('exit of @queuelock/zookeeper');
      const program = fileURLToPath(new URL('./whole-life.ts', import.meta.url));
      const child = fork(program, [endpoint, driver], { silent: true });
      let printed = '';
      child.stdout!.on('data', (chunk) => (printed += String(chunk)));
      child.stderr!.on('data', (chunk) => (printed += String(chunk)));
      child.once('message', () => child.disconnect());
      const code = await new Promise((resolve) => child.once('exit', resolve));
      expect({ code, printed }).to.deep.equal({ code: 0, printed: '' });
    });
  }
});
