import { createLockClient, type LockClient } from '@queuelock/core';
import { etcd } from '@queuelock/etcd';
import type { UnrulyCalls } from '@queuelock/harness/unruly';
import {
  holdsWithoutServer,
  survivesEveryScript,
  type UnrulyClient,
} from '@queuelock/harness/unruly-contest';
import { expect } from 'chai';
import { Etcd3, type IOptions } from 'etcd3';
import { OwnServer } from './own-server.ts';

const UNARY = {
  kv: { range: 'async', put: 'async', deleteRange: 'async', txn: 'async' },
  leaseClient: { leaseGrant: 'async', leaseRevoke: 'async', leaseTimeToLive: 'async' },
  maintenance: { status: 'async' },
} as const;
const STREAM = { on: 'sync', write: 'sync', end: 'sync', cancel: 'sync' } as const;
const TTL_MS = 1_500;

/** Returns a subclass of npm etcd3's `Etcd3` whose calls misbehave, as instrumentation may cause. The argument decides how each call misbehaves. */
function unrulyClass(calls: UnrulyCalls): typeof Etcd3 {
  return class extends Etcd3 {
    constructor(options?: IOptions) {
      super(options);
      for (const [part, methods] of Object.entries(UNARY))
        Object.assign(this, { [part]: calls.of(Reflect.get(this, part) as object, methods) });
      const { watchClient, leaseClient } = this;
      const open = {
        watch: async () => calls.of(await watchClient.watch(), STREAM),
        leaseKeepAlive: async () => calls.of(await leaseClient.leaseKeepAlive(), STREAM),
      };
      const opens = calls.of(open, { watch: 'async', leaseKeepAlive: 'async' });
      Object.assign(this, {
        watchClient: { watch: opens.watch },
        leaseClient: new Proxy(leaseClient, {
          get: (target, name) =>
            name === 'leaseKeepAlive' ? opens.leaseKeepAlive : (Reflect.get(target, name) as unknown),
        }),
      });
    }

    // The backend creates further clients from the class that defines `getRoles`. The subclass overrides it,
    // so that these clients misbehave too.
    override getRoles(): ReturnType<Etcd3['getRoles']> {
      return super.getRoles();
    }
  };
}

describe('a misbehaving client of npm etcd3 that the application passes to etcd()', function () {
  this.timeout(600_000);
  const own = new OwnServer();
  const honest = (): LockClient => createLockClient(etcd({ hosts: own.server.endpoint }), { ttlMs: TTL_MS });

  const unruly = (calls: UnrulyCalls): UnrulyClient => {
    const client = new (unrulyClass(calls))({ hosts: own.server.endpoint });
    const locks = createLockClient(etcd({ client, requestTimeoutMs: 200 }), { ttlMs: TTL_MS });
    return {
      locks,
      end: async () => {
        client.close();
      },
    };
  };

  it('neither ends the process nor makes two clients hold a lock at the same time', async () => {
    await survivesEveryScript({ unruly, honest }, { seed: 1, numRuns: 15 });
  });

  it('cannot make a client hold a lock by inventing replies', async () => {
    expect(await holdsWithoutServer({ unruly, honest }, {})).to.equal(false);
  });
});
