import { createLockClient } from '@queuelock/core';
import { etcd, type EtcdOptions } from '@queuelock/etcd';
import { expect } from 'chai';
import { Etcd3 } from 'etcd3';

/** Creates a client with heartbeats from a thread, without contacting a server. Returns the error of the creation, or `undefined`. */
function refusal(options: EtcdOptions): string | undefined {
  try {
    void createLockClient(etcd(options), { maxBlockedMs: 30_000 }).close();
    return undefined;
  } catch (error) {
    return String(error);
  }
}

describe('heartbeats that a thread sends to etcd', () => {
  it('are possible with all options that can be passed to a thread', () => {
    const auth = { username: 'a', password: 'b' };
    for (const options of [
      {},
      { hosts: ['h:1', 'h:2'], auth, prefix: 'p/' },
      { transport: 'etcd3' },
    ] as const)
      expect(refusal(options)).to.equal(undefined);
  });

  it('accept functions for credentials, which the main thread calls', () => {
    const auth = (): { username: string; password: string } => ({ username: 'a', password: 'secret' });
    const credentials = (): object => ({});
    for (const options of [{ auth }, { credentials }]) expect(refusal(options)).to.equal(undefined);
  });

  it('are refused as an option if the application passes its own etcd client', () => {
    const client = new Etcd3({ hosts: '127.0.0.1:1' });
    expect(refusal({ client })).to.match(/INVALID_ARGUMENT.*client beside maxBlockedMs.*set hosts/);
    client.close();
    const grpcOptions = { 'grpc.something': () => undefined };
    expect(refusal({ transport: 'etcd3', grpcOptions })).to.match(
      /INVALID_ARGUMENT.*grpcOptions beside maxBlockedMs/,
    );
  });
});
