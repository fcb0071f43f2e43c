import { expect } from 'chai';
import { createLockClient } from '@queuelock/core';
import { Clients } from './clients.ts';

// A number above all order numbers that the server has given. The test writes it to two queues, so that the
// next entry in each of them gets the same order number.
const LAST = 5_000_000_000_000_000;

describe('entries of a session with equal order numbers in two queues', function () {
  this.timeout(60_000);
  const clients = new Clients();

  it('are each granted only when the hold in their own queue is released', async () => {
    const [holder, waiter] = [createLockClient(clients.connect()), createLockClient(clients.connect())];
    const [first, second] = [await holder.acquire('first'), await holder.acquire('second')];
    await clients.operator.run(`update queuelock_queue set last = ${LAST}`);
    const granted: string[] = [];
    const claims = ['first', 'second'].map(async (name) => {
      const ownership = await waiter.acquire(name);
      granted.push(name);
      return ownership;
    });
    await clients.until(`select count(*) from queuelock_entry where ord = ${LAST + 1}`, 2);
    await second.release();
    const [claim, other] = claims;
    await (await other)?.release();
    // The response to this acquisition arrives after all notifications of the earlier release. So the test
    // waits for the response.
    await (await waiter.acquire('third')).release();
    expect(granted).to.deep.equal(['second']);
    await first.release();
    await (await claim)?.release();
    expect(granted).to.deep.equal(['second', 'first']);
    await Promise.all([holder.close(), waiter.close()]);
  });
});
