// A worker thread that opens a session with the npm package, and sends the outcome as a text.
import { parentPort, workerData } from 'node:worker_threads';
import { zookeeper } from '../src/index.ts';

const { server } = workerData as { readonly server: string };
const opening = zookeeper({ hosts: [server], transport: 'native' }).open(
  15_000,
  new AbortController().signal,
);
parentPort?.postMessage(
  await opening.then(
    () => 'it connected',
    (error: unknown) => String(error),
  ),
);
