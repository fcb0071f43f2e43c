import { expect } from 'chai';
import { createLockClient } from '@queuelock/core';
import { Clients } from './clients.ts';

// Above all numbers that the server would give, so that the next one in a queue is one more than this.
const LAST = 5_000_000_000_000_000;

describe('two entries of a session that have the same order number, each in its own queue', function () {
  this.timeout(60_000);
  const clients = new Clients();

  it('are granted separately: the grant of one does not grant the other', async () => {
    const [holder, waiter] = [createLockClient(clients.connect()), createLockClient(clients.connect())];
    const [first, second] = [await holder.acquire('first'), await holder.acquire('second')];
    await clients.operator.query('update queuelock.queue set last = $1', [LAST]);
    const granted: string[] = [];
    const claims = ['first', 'second'].map(async (name) => {
      const ownership = await waiter.acquire(name);
      granted.push(name);
      return ownership;
    });
    await clients.until(`select count(*) from queuelock.entry where ord = ${LAST + 1}`, '2');
    await second.release();
    const [claim, other] = claims;
    await (await other)?.release();
    // The response to this request arrives after all notifications of the release.
    await (await waiter.acquire('third')).release();
    expect(granted).to.deep.equal(['second']);
    await first.release();
    await (await claim)?.release();
    expect(granted).to.deep.equal(['second', 'first']);
    await Promise.all([holder.close(), waiter.close()]);
  });
});
