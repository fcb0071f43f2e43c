import { safely } from '@queuelock/conformance';
import { createLockClient, type LockClient, type Ownership } from '@queuelock/core';
import { etcd } from '@queuelock/etcd';
import { etcdOutcome, etcdCompare, expectAccepted, heldInEtcd } from '@queuelock/fencing';
import { expect } from 'chai';
import { Etcd3, KVClient } from 'etcd3';
import { endScripts } from '@queuelock/harness/services/script-process';
import { startProxy } from '@queuelock/harness/faults';
import { etcdStore } from '../scenarios/etcd-store.ts';
import type { Site } from '../scenarios/store.ts';
import { etcdTransport } from '@queuelock/harness/services/etcd-transport';
import { expectStaleHolderRefused } from './stale-holder.ts';

describe('a write in etcd that checks the hold', function () {
  this.timeout(60_000);
  let site: Site;
  let locks: LockClient;
  let client: Etcd3;

  before(async () => {
    site = await etcdStore.share('fenced writes in etcd');
  });

  beforeEach(() => {
    client = new Etcd3({ hosts: [site.endpoint] });
    locks = createLockClient(etcd({ ...etcdTransport(), hosts: [site.endpoint], prefix: 'fencing/' }));
  });

  afterEach(async () => {
    client.close();
    await locks.close();
    await endScripts();
  });

  it('is rejected for a holder that was frozen past its TTL, unlike a write without the check', async () => {
    await expectStaleHolderRefused(site, {
      kind: 'etcd',
      place: `${site.endpoint}/stale`,
      name: 'fenced-etcd',
    });
  });

  it('is accepted while the lock is held, and rejected after the release', async () => {
    const write = async (held: Parameters<Etcd3['if']>): Promise<boolean> =>
      (
        await client
          .if(...held)
          .then(client.put('fenced').value('x'))
          .commit()
      ).succeeded;
    const ownership = await locks.acquire('released');
    expect(await write(heldInEtcd(ownership))).to.equal(true);
    const guessed = await write(heldInEtcd({ key: ownership.key, token: ownership.token + 1n }));
    await ownership.release();
    const late = await write(heldInEtcd(ownership));
    safely(() => expect([guessed, late]).to.deep.equal([false, false]));
  });

  it('is rejected for an earlier holder after a write of the next holder in the same client', async () => {
    await using link = await startProxy(site.endpoint);
    const near = createLockClient(etcd({ ...etcdTransport(), hosts: [link.endpoint], prefix: 'fencing/' }));
    const write = async (hold: Ownership, text: string): Promise<string> => {
      const put = client.put('report').value(text);
      return (
        await etcdOutcome(
          hold,
          client
            .if(...heldInEtcd(hold))
            .then(put)
            .commit(),
        )
      ).outcome;
    };
    const first = await near.acquire('late');
    const outcomes = [await write(first, 'first')];
    let isHeld = false;
    const second = near.acquire('late').finally(() => (isHeld = true));
    link.toServer.blackhole();
    const released = first.release();
    outcomes.push(await write(first, 'first, on its way since before the release'));
    expect(isHeld, 'the removal of the first entry has not arrived').to.equal(false);
    await link.heal();
    const next = await second;
    outcomes.push(await write(next, 'second'), await write(first, 'first, late'));
    await Promise.all([released, next.release()]);
    expect(outcomes).to.deep.equal(['accepted', 'accepted', 'accepted', 'refused']);
    await near.close();
  });

  it('is rejected once the lock is released, with lock, token and entry in the message', async () => {
    const ownership = await locks.acquire('expected');
    const write = (): Promise<unknown> =>
      expectAccepted(
        etcdOutcome(
          ownership,
          client
            .if(...heldInEtcd(ownership))
            .then(client.put('fenced').value('expected'))
            .commit(),
        ),
      );
    await write();
    await ownership.release();
    const late = await write().catch(String);
    const { key, token } = ownership;
    safely(() =>
      expect(late).to.equal(
        `QueueLockError: [OWNERSHIP_LOST] the hold of "expected" with token ${String(token)} is refused by etcd: its entry ${JSON.stringify(key)} is no longer in the queue`,
      ),
    );
  });

  it('is also possible with a raw transaction request of etcd', async () => {
    const kv = new KVClient((client as unknown as { pool: ConstructorParameters<typeof KVClient>[0] }).pool);
    const put = { request_put: { key: Buffer.from('raw'), value: Buffer.from('x') } };
    const ownership = await locks.acquire('raw');
    const request = { compare: [etcdCompare(ownership)], success: [put] };
    expect((await kv.txn(request)).succeeded).to.equal(true);
    await ownership.release();
    const late = await kv.txn(request);
    safely(() => expect(late.succeeded).to.equal(false));
  });

  it('is applied once when etcd3 repeats it after a lost reply', async () => {
    await using proxy = await startProxy(site.endpoint);
    const lossy = new Etcd3({ hosts: [proxy.endpoint] });
    try {
      const ownership = await locks.acquire('lost-answer');
      const { lost } = proxy.loseNextReply((chunk) => chunk.includes('written once'));
      const response = lossy
        .if(...heldInEtcd(ownership))
        .and('data', 'Mod', '==', 0)
        .then(lossy.put('data').value('written once'))
        .commit();
      await lost;
      proxy.cut();
      expect((await response).succeeded).to.equal(false);
      const [data] = (await client.get('data').exec()).kvs;
      expect([String(data?.value), data?.version]).to.deep.equal(['written once', '1']);
    } finally {
      lossy.close();
    }
  });
});
