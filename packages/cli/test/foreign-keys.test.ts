import { randomUUID } from 'node:crypto';
import { createLockClient } from '@queuelock/core';
import { etcd } from '@queuelock/etcd';
import { sharedEtcd } from '@queuelock/harness/services';
import { expect } from 'chai';
import { Etcd3 } from 'etcd3';
import { parseLines, runCli } from './cli-process.ts';

describe('a key of another program ahead of a lock in etcd', function () {
  this.timeout(60_000);
  const prefix = `foreign-${randomUUID()}/`;
  const [name, config] = ['jobs', 'config'];
  let store: Etcd3;
  let backend: string[];

  before(async () => {
    const { endpoint } = await sharedEtcd('foreign keys');
    store = new Etcd3({ hosts: endpoint });
    backend = ['--backend', `etcd://${endpoint}/${prefix}`];
    for (const queue of [name, config])
      await store.put(`${prefix}${queue}/settings`).value('of another program');
    const client = createLockClient(etcd({ hosts: endpoint, prefix }));
    expect(await client.tryAcquire(name)).to.equal(undefined);
    await client.close();
  });
  after(() => {
    store.close();
  });

  it('is shown by `queuelock ls`', async () => {
    const { stdout } = await runCli(['ls', '--json', ...backend]);
    const listed = parseLines(stdout) as readonly object[];
    expect(listed).to.have.lengthOf(2);
    for (const queue of listed) expect(queue).to.include({ depth: 1, foreign: 1 });
    const { stdout: text } = await runCli(['ls', ...backend]);
    expect(text)
      .to.match(/ENTRIES +FOREIGN +QUEUE/)
      .and.match(/1 +1 +jobs/);
  });

  it('is shown by `queuelock who`', async () => {
    const { stdout } = await runCli(['who', name, '--json', ...backend]);
    expect(parseLines(stdout)[0]).to.include({ foreign: 'without-lease', owner: 'of another program' });
    const { stdout: text } = await runCli(['who', name, ...backend]);
    expect(text).to.contain('not an entry of a lock client, stays until it is deleted');
  });

  it('is shown by `queuelock doctor`', async () => {
    const { stdout } = await runCli(['doctor', ...backend]);
    expect(stdout).to.match(new RegExp(`warning +directory "${prefix}jobs/": .*"jobs" would wait forever`));
    expect(stdout).to.match(new RegExp(`warning +directory "${prefix}config/"`));
  });
});
