import { type Intercept, type MemoryCall } from '@queuelock/memory';
import { expect } from 'chai';
import { QueueLockError } from '../src/index.ts';
import { Gate, onStage, rejection } from './stage.ts';

/** Returns an interceptor that rejects the given calls to the memory server with a retryable error. */
function refusing(...calls: readonly MemoryCall[]): Intercept {
  return (call, proceed) =>
    calls.includes(call) ? Promise.reject(new QueueLockError('UNAVAILABLE', 'no leader')) : proceed();
}

describe('the message of an error', () => {
  it('of a wait that timed out names the lock', () =>
    onStage(async (stage) => {
      const holder = await stage.client().acquire('x');
      const late = await rejection(stage.passing(stage.client().acquire('x', { timeoutMs: 50 })));
      expect(late).to.have.property(
        'message',
        '[TIMEOUT] "x": not granted within 50 ms (timeoutMs): other holders or waiters are ahead',
      );
      expect(late).to.not.have.property('cause');
      await stage.passing(holder.release());
    }));

  it("of a wait that timed out before a session was opened states the store's address and the reason", () =>
    onStage(async (stage) => {
      const client = stage.client({ link: { intercept: refusing('open') } });
      const late = await rejection(stage.passing(client.acquire('x', { timeoutMs: 500 })));
      expect(late).to.include({ code: 'UNAVAILABLE' });
      expect(late).to.have.nested.property('cause.code', 'UNAVAILABLE');
      expect(late)
        .to.have.property('message')
        .that.matches(/^\[UNAVAILABLE\] "x": .* 500 ms .*memory:: no leader$/);
    }));

  it("of a wait that timed out while the store did not respond states the store's address", () =>
    onStage(async (stage) => {
      let isOver = false;
      const never: Intercept = (call, proceed) =>
        call === 'open' && !isOver
          ? new Promise((_, reject) => stage.clock.after(1_000, () => reject(new Error('late'))))
          : proceed();
      const client = stage.client({ link: { intercept: never } });
      const late = await rejection(stage.passing(client.acquire('x', { timeoutMs: 500 })));
      expect(late)
        .to.have.property('message')
        .that.matches(/no session at memory:: it has not responded yet$/);
      isOver = true;
    }));

  it('of a wait that timed out during an outage states that the store is unavailable', () =>
    onStage(async (stage) => {
      const holder = await stage.client().acquire('x');
      let isAway = false;
      const away: Intercept = (call, proceed) =>
        isAway && call === 'renew' ? Promise.reject(new QueueLockError('UNAVAILABLE', 'cut off')) : proceed();
      const client = stage.client({ link: { intercept: away } });
      const waiting = rejection(stage.passing(client.acquire('x', { timeoutMs: 6_000 })));
      await stage.settle();
      isAway = true;
      const late = await waiting;
      expect(late).to.include({ code: 'UNAVAILABLE' });
      expect(late)
        .to.have.property('message')
        .that.matches(/^\[UNAVAILABLE\] "x": .*6000 ms.* the session at memory: is suspect: cut off$/);
      await stage.passing(holder.release());
    }));

  it("of a wait that timed out while the store did not respond states that the lock's state is unknown", () =>
    onStage(async (stage) => {
      const gate = new Gate('enqueue');
      const client = stage.client({ link: { intercept: gate.requests } });
      const late = await rejection(stage.passing(client.acquire('x', { timeoutMs: 500 })));
      expect(late).to.include({ code: 'UNAVAILABLE' });
      expect(late)
        .to.have.property('message')
        .that.matches(/"x": .* the store has not responded yet$/);
      gate.open();
      await stage.settle();
    }));

  it('of a wait for several names that timed out states why the client could not join their queues', () =>
    onStage(async (stage) => {
      const client = stage.client({ link: { intercept: refusing('enqueueAll') } });
      const late = await rejection(stage.passing(client.multi(['x', 'y']).acquire({ timeoutMs: 500 })));
      expect(late).to.have.nested.property('cause.message').that.includes('no leader');
      expect(late)
        .to.have.property('message')
        .that.matches(/^\[UNAVAILABLE\] \["x","y"\]: .* 500 ms .*no leader$/);
    }));

  it("of a hold lost by failed heartbeats states the store's address and the last failure", () =>
    onStage(async (stage) => {
      const client = stage.client({ link: { intercept: refusing('renew') } });
      const own = await client.acquire('x');
      await stage.until('it is lost', () => !own.held);
      expect(own.signal.reason).to.have.nested.property('cause.code', 'SESSION_LOST');
      expect(own.signal.reason)
        .to.have.nested.property('cause.message')
        .that.matches(/memory:.*: no leader$/);
      expect(own.signal.reason).to.have.nested.property('cause.cause.code', 'UNAVAILABLE');
    }));
});
