import { expect } from 'chai';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { startRedis } from '@queuelock/harness/services';
import type { ProcessService } from '@queuelock/harness/services/service';
import { until } from '@queuelock/harness/services/until';
import { requested } from './asked.ts';

/** A primary, and a replica that is connected to it through a proxy. */
export interface Replicated {
  readonly primary: ProcessService;
  readonly replica: ProcessService;
  readonly replication: TcpProxy;
  readonly stop: () => Promise<void>;
}

/** Resolves when the replica has connected to the primary and receives its writes. */
export async function startReplicated(withinMs: number): Promise<Replicated> {
  const primary = await startRedis({ way: 'process' });
  const replication = await startProxy(primary.endpoint);
  const replica = await startRedis({ way: 'process' });
  const [host = '', port = ''] = replication.endpoint.split(':');
  await requested(replica, ['REPLICAOF', host, port]);
  const follows = async (): Promise<void> => {
    expect(await requested(replica, ['INFO', 'replication'])).to.contain('master_link_status:up');
  };
  await until(follows, { what: 'the replica follows', withinMs });
  const stop = async (): Promise<void> => {
    await replication.stop();
    await Promise.all([primary.stop(), replica.stop()]);
  };
  return { primary, replica, replication, stop };
}
