import { describeBackend } from '@queuelock/conformance';
import { etcd } from '@queuelock/etcd';
import { sharedEtcd } from '../../../integration/services.ts';
import { Operator } from './operator.ts';

const PREFIX = 'conformance/';

async function endpoint(): Promise<string> {
  return (await sharedEtcd('conformance of @queuelock/etcd')).endpoint;
}

describe('@queuelock/etcd', () => {
  let operator: Operator;
  before(async () => {
    operator = new Operator(await endpoint());
  });
  after(() => {
    operator.close();
  });

  describeBackend({
    name: 'etcd, one node,',
    // The shortest that a server with default settings grants.
    ttlMs: 2_000,
    // The server revokes expired leases every 500 ms; the rest for a busy machine.
    expiryGranularityMs: 1_000,
    connect: async () => etcd({ hosts: await endpoint(), prefix: PREFIX }),
    traces: true,
    together: true,
    sharing: true,
    eviction: true,
    registers: true,
    resumption: true,
    evict: (key) => operator.remove(key),
    entries: (queue) => operator.keysUnder(`${PREFIX}${queue}/`),
  });
});
