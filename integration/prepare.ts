// Installs what the tests need and this machine lacks, before the first test's clock runs.
import { compileCurator } from './interop/curator/curator.ts';
import { startEtcd, startZooKeeper } from './services.ts';
import { NotHere } from './services/service.ts';

/** One of each, to see that it can be had. */
const NEEDED = [
  { name: 'etcd', start: async () => (await startEtcd()).stop() },
  { name: 'ZooKeeper', start: async () => (await startZooKeeper()).stop() },
];

try {
  for (const { name, start } of NEEDED) {
    const begun = performance.now();
    await start();
    console.log(`${name} is here (${String(Math.round(performance.now() - begun))} ms)`);
  }
  // Tests with Curator say themselves what is missing if it cannot be had.
  await compileCurator()
    .then((curator) => curator.remove())
    .catch((error: unknown) => {
      if (!(error instanceof NotHere)) throw error;
    });
} catch (error) {
  if (!(error instanceof NotHere)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
