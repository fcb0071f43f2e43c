import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { safely } from '@queuelock/conformance';
import { createLockClient } from '@queuelock/core';
import { etcd } from '@queuelock/etcd';
import { expect } from 'chai';
import { sharedEtcd, type EtcdService } from '@queuelock/harness/services';
import { etcdTransport } from '@queuelock/harness/services/etcd-transport';
import { eventually, freshQueue } from './clients.ts';
import { Operator } from './operator.ts';

const run = promisify(execFile);

describe('the token and the grantToken of a hold in etcd', () => {
  let server: EtcdService;
  let operator: Operator;

  before(async () => {
    server = await sharedEtcd('tokens of @queuelock/etcd');
    operator = new Operator(server.endpoint);
  });
  after(() => {
    operator.close();
  });

  /**
   * Returns the revision that `etcdctl lock NAME` passes to its command, which is `Mutex.Header().Revision`
   * in Go.
   */
  async function revisionInGo(name: string): Promise<bigint> {
    const env = { ...process.env, ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: server.endpoint };
    const command = ['lock', name, 'printenv', 'ETCD_LOCK_REV'];
    const { stdout } = await run('etcdctl', command, { env });
    return BigInt(/^\d+$/m.exec(stdout)?.[0] ?? -1);
  }

  async function untilQueued(name: string, count: number): Promise<void> {
    const holds = async (): Promise<boolean> => (await operator.keysUnder(`${name}/`)).length === count;
    await eventually(`${count} stand in line`, holds);
  }

  it('grow with every grant, and grantToken also across grants to Go clients in between', async () => {
    const name = freshQueue();
    const [a, b] = [1, 2].map(() => createLockClient(etcd({ ...etcdTransport(), hosts: server.endpoint })));
    const first = await a!.acquire(name);
    expect(first.grantToken, 'of a free lock').to.equal(first.token);
    const inGo = revisionInGo(name);
    await untilQueued(name, 2);
    const waiting = b!.acquire(name);
    await untilQueued(name, 3);
    await first.release();
    const granted = await inGo;
    const second = await waiting;
    safely(() => expect(second.token > first.token).to.equal(true));
    safely(() => expect(granted > first.grantToken!).to.equal(true));
    safely(() => expect(second.grantToken! > granted).to.equal(true));
    expect(second.grantToken! > second.token, 'of who had to wait').to.equal(true);
    await second.release();
    const last = await a!.acquire(name);
    safely(() => expect(last.grantToken! > second.grantToken!).to.equal(true));
    await Promise.all([a!.close(), b!.close()]);
  });
});
