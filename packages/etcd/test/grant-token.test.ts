import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createLockClient } from '@queuelock/core';
import { etcd } from '@queuelock/etcd';
import { expect } from 'chai';
import { sharedEtcd, type EtcdService } from '../../../integration/services.ts';
import { freshQueue } from './clients.ts';

const run = promisify(execFile);

describe('the two tokens of a hold in etcd', () => {
  let server: EtcdService;

  before(async () => {
    server = await sharedEtcd('tokens of @queuelock/etcd');
  });

  /** What `etcdctl lock NAME` tells its command, which is Go's `Mutex.Header().Revision`. */
  async function revisionInGo(name: string): Promise<bigint> {
    const env = { ...process.env, ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: server.endpoint };
    const command = ['lock', name, 'printenv', 'ETCD_LOCK_REV'];
    const { stdout } = await run('etcdctl', command, { env });
    return BigInt(/^\d+$/m.exec(stdout)?.[0] ?? -1);
  }

  it('each grow with every grant, the one by which Go fences also across languages', async () => {
    const name = freshQueue();
    const [a, b] = [1, 2].map(() => createLockClient(etcd({ hosts: server.endpoint })));
    const first = await a!.acquire(name);
    expect(first.grantToken, 'of a free lock').to.equal(first.token);
    const [inGo, waiting] = [revisionInGo(name), b!.acquire(name)];
    await first.release();
    const granted = await inGo;
    const second = await waiting;
    expect(second.token > first.token).to.equal(true);
    const tokens = [first.grantToken, granted, second.grantToken];
    // Either may have come first into the line behind the first.
    expect([...tokens].sort((x, y) => Number(x! - y!))[0]).to.equal(first.grantToken);
    expect(new Set(tokens).size).to.equal(3);
    expect(second.grantToken! > second.token, 'of who had to wait').to.equal(true);
    await second.release();
    const last = await a!.acquire(name);
    expect(last.grantToken! > second.grantToken!).to.equal(true);
    expect(last.grantToken! > granted).to.equal(true);
    await Promise.all([a!.close(), b!.close()]);
  });
});
