// What connect.test.ts runs in a worker thread.
import { parentPort, workerData } from 'node:worker_threads';
import { zookeeper } from '@queuelock/zookeeper';

const opened = zookeeper({ hosts: [workerData as string] }).open(4_000, new AbortController().signal);
opened.then(
  () => parentPort!.postMessage('it connected'),
  (error: unknown) => parentPort!.postMessage(String(error)),
);
