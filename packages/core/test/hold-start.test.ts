import {
  createMemoryServer,
  memory,
  virtualClock,
  type MemoryServer,
  type VirtualClock,
} from '@queuelock/memory';
import { expect } from 'chai';
import { createLockClient, type LockClient, type LockClientOptions, type Ownership } from '../src/index.ts';
import type { Backend } from '../src/backend.ts';

const TTL_MS = 10_000;
// The longest time for which a heartbeat can prove a hold, in milliseconds: the TTL minus 1 % for the
// different rates of clocks, and minus 2 % for the safety margin.
const LONGEST_MS = 9_700;

describe('the start of a hold', () => {
  let clock: VirtualClock;
  let server: MemoryServer;
  let clients: LockClient[];

  beforeEach(() => {
    clock = virtualClock();
    server = createMemoryServer({ clock });
    clients = [];
  });

  afterEach('leaves nothing behind', async () => {
    const closing = Promise.all(clients.map((client) => client.close()));
    await clock.advance(100);
    await closing;
    expect([server.entryCount, server.watcherCount, clock.timerCount]).to.deep.equal([0, 0, 0]);
  });

  function connect(options: LockClientOptions = {}, backend: Backend = memory({ server })): LockClient {
    const client = createLockClient(backend, { clock, ttlMs: TTL_MS, ...options });
    clients.push(client);
    return client;
  }

  async function failure(promise: Promise<unknown>): Promise<unknown> {
    return promise.then(
      () => expect.fail('it resolved'),
      (error: unknown) => error,
    );
  }

  describe('with minRemainingMs', () => {
    it('waits for one more heartbeat unless enough time is already proven', async () => {
      const client = connect();
      await client.run('x', () => undefined);
      await clock.advance(2_000);
      const holds = await Promise.all([
        client.run('a', ({ remainingMs }) => remainingMs),
        client.run('c', ({ remainingMs }) => remainingMs, { minRemainingMs: LONGEST_MS - 2_000 }),
      ]);
      expect(holds).to.deep.equal([LONGEST_MS - 2_000, LONGEST_MS - 2_000]);
      const longer = await client.run('b', ({ remainingMs }) => remainingMs, { minRemainingMs: 9_000 });
      expect(longer).to.equal(LONGEST_MS);
    });

    it('rejects with NOT_ENOUGH_TIME when two heartbeats prove less, and leaves the queue', async () => {
      const sound = memory({ server });
      const slow: Backend = {
        ...sound,
        open: async (ttlMs, signal) => {
          const session = await sound.open(ttlMs, signal);
          const renew = async (stop: AbortSignal): Promise<number> => (await session.renew(stop)) / 2;
          return { ...bound(session), renew };
        },
      };
      const client = connect({}, slow);
      await client.run('x', () => undefined);
      await clock.advance(4_000);
      const requested = failure(client.run('x', () => expect.fail('it began'), { minRemainingMs: 9_000 }));
      await clock.advance(TTL_MS / 4);
      expect(await requested)
        .to.have.property('message')
        .that.matches(/^\[NOT_ENOUGH_TIME\] "x": \d+ ms of the hold are proven, and minRemainingMs is 9000/);
      expect(server.entryCount).to.equal(0);
    });

    it('is refused when minRemainingMs is negative, NaN, or longer than a heartbeat can prove', async () => {
      const client = connect();
      for (const minRemainingMs of [LONGEST_MS + 1, -1, Number.NaN]) {
        const error = await failure(client.acquire('x', { minRemainingMs }));
        expect(error)
          .to.have.property('message')
          .that.includes(`from 0 to ${LONGEST_MS}`)
          .and.includes('minRemainingMs');
      }
    });
  });

  describe('with minRemainingMs, on a store where only the next heartbeat confirms a heartbeat', () => {
    it('is refused at once when minRemainingMs is longer than the heartbeats on this store can prove', async () => {
      const sound = memory({ server });
      const client = connect({}, { ...sound, info: { ...sound.info, proofLag: 0.2 } });
      const max = LONGEST_MS - TTL_MS / 4;
      const error = await failure(client.acquire('x', { minRemainingMs: max + 1 }));
      expect(error).to.have.property('message').that.includes(`from 0 to ${max}`);
      await client.run('x', () => undefined, { minRemainingMs: max });
    });
  });

  describe('throwIfLost of a hold', () => {
    it('returns while the required time is still proven, and throws NOT_ENOUGH_TIME otherwise', async () => {
      const ownership = await connect().acquire('x');
      ownership.throwIfLost();
      ownership.throwIfLost(LONGEST_MS);
      clock.stall(5_000);
      ownership.throwIfLost(LONGEST_MS - 5_000);
      expect(() => ownership.throwIfLost(LONGEST_MS)).to.throw(/NOT_ENOUGH_TIME.*4700 ms/);
      expect(() => ownership.throwIfLost(Number.NaN)).to.throw(/NOT_ENOUGH_TIME/);
    });

    it('throws the reason of the signal after a loss, even if no listener of the signal has run yet', async () => {
      const ownership = await connect().acquire('x');
      clock.stall(TTL_MS);
      const thrown = thrownBy(() => ownership.throwIfLost());
      expect(thrown).to.have.property('code', 'OWNERSHIP_LOST');
      expect(ownership.signal.reason).to.equal(thrown);
    });

    it('throws OWNERSHIP_LOST after a release', async () => {
      const ownership = await connect().acquire('x');
      void ownership.release();
      expect(thrownBy(() => ownership.throwIfLost())).to.have.property('code', 'OWNERSHIP_LOST');
    });
  });

  describe('with lockDelayMs', () => {
    const delayed = { lockDelayMs: 2_500 };

    /** Acquires the lock `x`, and measures how long that takes. */
    async function waitOf(client: LockClient): Promise<{ ownership: Ownership; tookMs: number }> {
      const from = clock.now();
      const ownership = await client.acquire('x');
      return { ownership, tookMs: clock.now() - from };
    }

    it('is delayed after a holder that crashed, and not after one that released', async () => {
      const [first, second, third] = [connect(delayed), connect(delayed), connect(delayed)];
      await first.acquire('x');
      const next = waitOf(second);
      await clock.advance(1_000);
      server.expireSession(server.sessionIds[0]!);
      await clock.advance(10_000);
      const { ownership, tookMs } = await next;
      expect(tookMs).to.equal(3_500);
      await ownership.release();
      expect((await waitOf(third)).tookMs).to.equal(0);
    });

    it('is delayed for a claim that starts after the entry of a crashed holder was removed', async () => {
      await connect(delayed).acquire('x');
      server.expireSession(server.sessionIds[0]!);
      const second = connect(delayed);
      const tried = second.tryAcquire('x');
      let done = false;
      void tried.then(() => (done = true));
      await clock.advance(2_499);
      expect(done).to.equal(false);
      await clock.advance(1);
      expect((await tried)?.held).to.equal(true);
    });

    it('is delayed after a client that was closed while it held', async () => {
      const [first, second] = [connect(delayed), connect(delayed)];
      await first.acquire('x');
      await first.close();
      const next = waitOf(second);
      await clock.advance(2_500);
      expect((await next).tookMs).to.equal(2_500);
    });

    it('counts the delay toward the timeout of the wait', async () => {
      const [first, second] = [connect(delayed), connect(delayed)];
      await first.acquire('x');
      server.expireSession(server.sessionIds[0]!);
      const late = failure(second.acquire('x', { timeoutMs: 1_000 }));
      await clock.advance(1_000);
      expect(await late).to.have.property('code', 'TIMEOUT');
      const next = waitOf(second);
      await clock.advance(2_500);
      expect((await next).tookMs).to.equal(2_500);
    });

    it('rejects with INVALID_ARGUMENT on a backend without traces', async () => {
      const sound = memory({ server });
      const plain: Backend = {
        ...sound,
        open: async (ttlMs, signal) => bound(await sound.open(ttlMs, signal)),
      };
      expect(await failure(connect(delayed, plain).acquire('x')))
        .to.have.property('message')
        .that.includes('[INVALID_ARGUMENT] lockDelayMs');
    });
  });
});

type Session = Awaited<ReturnType<Backend['open']>>;

/**
 * Copies the methods of a session except `traces`, so that the copy behaves like a backend without traces.
 */
function bound(session: Session): Session {
  return {
    id: session.id,
    ttlMs: session.ttlMs,
    renew: (signal) => session.renew(signal),
    enqueue: (spec) => session.enqueue(spec),
    tryEnqueue: (spec) => session.tryEnqueue(spec),
    update: (queue, id, value) => session.update(queue, id, value),
    remove: (queue, id) => session.remove(queue, id),
    close: () => session.close(),
  };
}

function thrownBy(call: () => void): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return expect.fail('it threw nothing');
}
