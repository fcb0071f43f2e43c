import { once } from 'node:events';
import { expect } from 'chai';
import { Cli } from '@queuelock/cli/test/cli-process.ts';
import { sharedEtcd } from '@queuelock/harness/services';
import { describeCommand, entriesOf } from './cli-commands.ts';

describe('the command queuelock on a real server', function () {
  this.timeout(60_000);

  describeCommand('etcd');

  it('`queuelock run` kills its program as soon as an operator removes the entry of the lock', async () => {
    const { endpoint } = await sharedEtcd('cli');
    const env = { QUEUELOCK_URL: `etcd://${endpoint}` };
    const cli = new Cli(['run', 'evicted', '--', 'sh', '-c', 'echo $QUEUELOCK_KEY; exec sleep 600'], env);
    while (!cli.stdout.includes('\n')) await once(cli.child.stdout!, 'data');
    await deleteKey(endpoint, cli.stdout.trim());
    const { code, stderr } = await cli.ending;
    expect(code).to.equal(75);
    expect(stderr).to.match(
      /^queuelock: [^\n]*another client or an operator removed the entry[^\n]*SIGKILL[^\n]*\n$/,
    );
    expect(await entriesOf(env.QUEUELOCK_URL, 'evicted')).to.deep.equal([]);
  });
});

/** Deletes a key through etcd's JSON gateway, as an operator does with another tool. */
async function deleteKey(endpoint: string, key: string): Promise<void> {
  const body = JSON.stringify({ key: Buffer.from(key).toString('base64') });
  const response = await fetch(`http://${endpoint}/v3/kv/deleterange`, { method: 'POST', body });
  expect(((await response.json()) as { deleted?: string }).deleted).to.equal('1');
}
