import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);
const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

/** The code of a child process that loads the built files of the packages, as an application does. */
const PROGRAM = `
  const { createRequire } = await import('node:module');
  const { createLockClient } = await import('@queuelock/core');
  const { memory } = await import('@queuelock/memory');
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  const rxjs = await import('rxjs');
  const client = createLockClient(memory());
  const streams = [client.session$, client.claim('jobs'), client.watch('jobs')];
  const held = await client.run('jobs', () => 'held');
  await client.close();
  console.log(JSON.stringify({
    rxjs: loaded.filter((file) => file.includes('/rxjs/')).length,
    others: loaded.filter((file) => !file.includes('/rxjs/') && !file.endsWith('/rx.cjs')),
    areInstances: streams.every((stream) => stream instanceof rxjs.Observable),
    held,
  }));
`;

describe('the built package', () => {
  it("loads at most 110 files of RxJS, and uses the application's own Observable class", async () => {
    const child = await run(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      cwd: PACKAGE,
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    const { rxjs, others, areInstances, held } = JSON.parse(child.stdout) as Record<string, unknown>;
    expect({ areInstances, held, others }).to.deep.equal({ areInstances: true, held: 'held', others: [] });
    expect(rxjs).to.be.within(1, 110);
  });
});
