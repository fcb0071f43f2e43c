import { createLockClient } from '@queuelock/core';
import { consul } from '@queuelock/consul';
import { consulOutcome, expectAccepted, heldInConsul, type ConsulTxnResponse } from '@queuelock/fencing';
import { sharedConsul } from '@queuelock/harness/services';
import { expect } from 'chai';
import { filter, firstValueFrom } from 'rxjs';

describe('a write in Consul that checks the hold', function () {
  this.timeout(60_000);
  let endpoint: string;

  before(async () => {
    ({ endpoint } = await sharedConsul('fenced writes in Consul'));
  });

  async function send(operations: readonly object[]): Promise<ConsulTxnResponse> {
    const body = JSON.stringify(operations);
    const response = await fetch(`http://${endpoint}/v1/txn`, { method: 'PUT', body });
    return (await response.json()) as ConsulTxnResponse;
  }

  function put(text: string): object {
    return { KV: { Verb: 'set', Key: 'fencing/data', Value: Buffer.from(text).toString('base64') } };
  }

  async function data(): Promise<string> {
    return (await fetch(`http://${endpoint}/v1/kv/fencing/data?raw&consistent`)).text();
  }

  it('is accepted while the lock is held, and rejected after a release or an eviction', async () => {
    const locks = createLockClient(consul({ hosts: endpoint, prefix: 'fencing/locks/' }));
    const first = await locks.acquire('account 7');
    const hold = { name: first.name, key: first.key, token: first.token };
    const write = (text: string): Promise<unknown> =>
      expectAccepted(consulOutcome(hold, send([heldInConsul(hold), put(text)])));
    await write('by the first');
    expect(await data()).to.equal('by the first');
    await first.release();
    const late = await write('too late').catch((error: unknown) => error);
    expect(late).to.have.property('code', 'OWNERSHIP_LOST');
    const second = await locks.acquire('account 7');
    expect(second.token > first.token).to.equal(true);
    await expectAccepted(consulOutcome(second, send([put('by the second'), heldInConsul(second)])));
    const evicted = { name: second.name, key: second.key, token: second.token };
    const live$ = locks.watch('account 7').pipe(filter(({ entries }) => entries.length === 1));
    const { entries } = await firstValueFrom(live$);
    await locks.evict('account 7', entries[0]!, { reason: 'a test' });
    const refused = await consulOutcome(evicted, send([put('too late'), heldInConsul(evicted)]));
    expect(refused.outcome).to.equal('refused');
    expect(await data()).to.equal('by the second');
    await locks.close();
  });
});
