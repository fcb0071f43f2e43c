import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { SINGLE, Bench } from '../bench.ts';

// Code that runs in a worker thread. Node does not load TypeScript there, so the code loads the package with
// tsx.
const IN_WORKER = `
  const { workerData, parentPort } = require('node:worker_threads');
  const { require: tsRequire } = require('node:module').createRequire(workerData.here)('tsx/cjs/api');
  const { zookeeper } = tsRequire('../../src/index.ts', workerData.here);
  const backend = zookeeper(workerData.options);
  const { signal } = new AbortController();
  backend.open(4_000, signal)
    .then((session) => session.renew(signal))
    .then((ms) => parentPort.postMessage('it lives for ' + (ms > 0 ? 'a while' : ms)), (error) => parentPort.postMessage(String(error)))
    .then(() => backend.close());
`;

describe("ZooKeeper over Node's sockets", () => {
  const bench = new Bench();
  afterEach(() => bench.clear());

  it('works in several worker threads at the same time, which exit by themselves', async () => {
    const { endpoint } = await sharedZooKeeper('threads of @queuelock/zookeeper');
    const workerData = { options: { hosts: [endpoint], ...SINGLE }, here: import.meta.url };
    const output = [1, 2].map(async () => {
      const worker = new Worker(IN_WORKER, { eval: true, workerData });
      bench.keep(worker, (started) => started.terminate());
      const messages: unknown[] = [];
      worker.on('message', (message) => messages.push(message));
      const code = await new Promise((resolve, reject) => {
        worker.once('exit', resolve);
        worker.once('error', reject);
      });
      return { messages, code };
    });
    const fine = { messages: ['it lives for a while'], code: 0 };
    expect(await Promise.all(output)).to.deep.equal([fine, fine]);
  });
});
