import { expect } from 'chai';
import { fileURLToPath } from 'node:url';
import { orSkip } from '@queuelock/harness/services/skip';
import { etcdStore } from '../scenarios/etcd-store.ts';
import type { Site } from '../scenarios/store.ts';
import { runLapses } from './lapse.ts';
import { runMix } from './mix.ts';
import { rowsOf } from './own-client.ts';
import { abandonTrials, expectRight } from './trial.ts';

const PROGRAM = fileURLToPath(new URL('programs/python/etcd_queue.py', import.meta.url));
const SHORT = { grants: 60, holdMs: 2 };

describe('an etcd client that was written from packages/FORMATS.md', function () {
  this.timeout(120_000);
  let site: Site;
  const { mixes, lines } = rowsOf({ command: ['python3', '-B', PROGRAM], recipe: 'lock', isDeaf: false });

  before(async () => {
    site = await etcdStore.share('a client written from the page about formats');
  });

  afterEach(abandonTrials);

  for (const mix of mixes)
    it(`is granted the lock in the server's order, with one holder at a time: ${mix.title}`, async function () {
      const ran = await orSkip(this, runMix(site, mix, SHORT));
      expectRight(ran);
      expect(ran.holds.length).to.be.at.least(SHORT.grants);
    });

  for (const line of lines)
    for (const lapse of ['crash', 'freeze'] as const)
      it(`keeps the queue in order when holders and waiters ${lapse}: ${line.title}`, async function () {
        expectRight(await orSkip(this, runLapses(site, line, lapse)));
      });
});
