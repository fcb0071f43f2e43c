import {
  createMemoryServer,
  memory,
  virtualClock,
  type Intercept,
  type MemoryServer,
  type VirtualClock,
} from '@queuelock/memory';
import { expect } from 'chai';
import { Subject, merge, throwError, type Subscription } from 'rxjs';
import {
  QueueLockError,
  createLockClient,
  isQueueLockError,
  type ClaimState,
  type LockClient,
  type Ownership,
} from '../src/index.ts';

const TTL_MS = 10_000;

describe('a lock client', () => {
  let clock: VirtualClock;
  let server: MemoryServer;
  let clients: LockClient[];

  beforeEach(() => {
    clock = virtualClock();
    server = createMemoryServer({ clock });
    clients = [];
  });

  afterEach('leaves nothing behind', async () => {
    for (const client of clients) await client.close();
    expect(server.entryCount, 'entries').to.equal(0);
    expect(server.watcherCount, 'watchers').to.equal(0);
    expect(server.sessionIds, 'sessions').to.deep.equal([]);
    expect(clock.timerCount, 'timers').to.equal(0);
  });

  function connect(
    options: { owner?: string; connectTimeoutMs?: number; backend?: Parameters<typeof memory>[0] } = {},
  ): LockClient {
    const { backend, ...rest } = options;
    const client = createLockClient(memory({ server, ...backend }), { clock, ttlMs: TTL_MS, ...rest });
    clients.push(client);
    return client;
  }

  /** Records the states that a claim emits, the latest last. */
  function follow(client: LockClient, name = 'x'): { states: ClaimState[]; subscription: Subscription } {
    const states: ClaimState[] = [];
    return { states, subscription: client.claim(name).subscribe((state) => states.push(state)) };
  }

  const statuses = (states: readonly ClaimState[]): string[] => states.map(({ status }) => status);

  const elapsed = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      clock.after(ms, resolve);
    });

  /** Runs all promise jobs and timers that are due, without letting time pass. */
  const settle = (): Promise<void> => clock.advance(0);

  async function rejection(promise: Promise<unknown>): Promise<unknown> {
    return promise.then(
      () => expect.fail('it resolved'),
      (error: unknown) => error,
    );
  }

  describe('run', () => {
    it('resolves with the result of the work, after the release', async () => {
      const client = connect();
      const reply = await client.run('x', ({ held, name }) => ({ held, name }));
      expect(reply).to.deep.equal({ held: true, name: 'x' });
      expect(server.entryCount).to.equal(0);
    });

    it('rejects with the error of the work, after the release', async () => {
      const client = connect();
      const error = new Error('no ink');
      expect(await rejection(client.run('x', () => Promise.reject(error)))).to.equal(error);
      expect(server.entryCount).to.equal(0);
    });

    it('serves contenders of several clients in the order of their entries', async () => {
      const [a, b] = [connect(), connect()];
      const holder = await a.acquire('x');
      const served: string[] = [];
      const rounds: Promise<void>[] = [];
      for (const [client, label] of [
        [b, 'b1'],
        [a, 'a1'],
        [b, 'b2'],
        [a, 'a2'],
      ] as const) {
        rounds.push(client.run('x', () => void served.push(label)));
        await settle();
      }
      await holder.release();
      await Promise.all(rounds);
      expect(served).to.deep.equal(['b1', 'a1', 'b2', 'a2']);
    });

    it('rejects with OWNERSHIP_LOST when the lock is lost, even if the work succeeds', async () => {
      const client = connect();
      const error = await rejection(
        client.run('x', async ({ key, signal }) => {
          server.evict(key);
          await settle();
          expect(signal.aborted).to.equal(true);
          return 'done';
        }),
      );
      expect(error).to.include({ code: 'OWNERSHIP_LOST', reason: 'entry-removed' });
    });

    it('rejects with OWNERSHIP_LOST, caused by the error of the work, when the work throws after a loss', async () => {
      const client = connect();
      const failure = new Error('torn page');
      const error = await rejection(
        client.run('x', async ({ key }) => {
          server.evict(key);
          await settle();
          throw failure;
        }),
      );
      expect(error).to.include({ code: 'OWNERSHIP_LOST', cause: failure });
    });

    it('rejects at once when the work, or a function that it calls, claims the same name', async () => {
      const client = connect();
      await client.run('x', async () => {
        await settle();
        expect(await rejection(client.run('x', () => 1))).to.include({ code: 'REENTRANT' });
        expect(await rejection(client.run('y', () => client.acquire('x')))).to.include({ code: 'REENTRANT' });
        expect(await client.tryAcquire('x'), 'a try is simply busy').to.equal(undefined);
      });
      expect(await client.run('x', () => 'free again')).to.equal('free again');
    });

    it("waits in the queue when it is called inside another client's hold of the same name", async () => {
      const [a, b] = [connect(), connect()];
      const waited = await a.run('x', async () => rejection(b.run('x', () => 1, { timeoutMs: 0 })));
      expect(waited).to.include({ code: 'TIMEOUT' });
    });

    it('lets concurrent calls of one client wait in the queue', async () => {
      const client = connect();
      const order: number[] = [];
      await Promise.all([1, 2, 3].map((n) => client.run('x', () => void order.push(n))));
      expect(order).to.have.members([1, 2, 3]);
    });

    it('allows code that a run started to claim the same name after the run has ended', async () => {
      const client = connect();
      let later: Promise<number> | undefined;
      let go: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => (go = resolve));
      await client.run('x', () => {
        later = gate.then(() => client.run('x', () => 7));
      });
      go();
      expect(await later).to.equal(7);
    });
  });

  describe('acquire', () => {
    it('returns a handle that releases once, however often release is called', async () => {
      const client = connect();
      const ownership = await client.acquire('x');
      await Promise.all([ownership.release(), ownership.release()]);
      await ownership.release();
      expect(ownership.held).to.equal(false);
      expect(ownership.remainingMs).to.equal(0);
      expect(ownership.signal.aborted, 'a release is no loss').to.equal(false);
    });

    it('releases at the end of an `await using` block', async () => {
      const client = connect();
      {
        await using ownership = await client.acquire('x');
        expect(ownership.held).to.equal(true);
        expect(server.entryCount).to.equal(1);
      }
      expect(server.entryCount).to.equal(0);
    });

    it('returns tokens that grow, also after the queue was empty', async () => {
      const client = connect();
      const tokens: bigint[] = [];
      for (let round = 0; round < 3; round++) tokens.push(await client.run('x', ({ token }) => token));
      expect(tokens[0]! < tokens[1]! && tokens[1]! < tokens[2]!, String(tokens)).to.equal(true);
    });

    it('rejects with TIMEOUT when the lock is not granted in time, and leaves the queue', async () => {
      const [a, b] = [connect(), connect()];
      const holder = await a.acquire('x');
      const waiting = rejection(b.acquire('x', { timeoutMs: 300 }));
      await clock.advance(299);
      expect(server.entryCount).to.equal(2);
      await clock.advance(1);
      expect(await waiting).to.include({ code: 'TIMEOUT' });
      await settle();
      expect(server.entryCount).to.equal(1);
      await holder.release();
    });

    it("rejects at once with the reason of the caller's signal, and leaves the queue", async () => {
      const [a, b] = [connect(), connect()];
      const holder = await a.acquire('x');
      const abort = new AbortController();
      const waiting = rejection(b.acquire('x', { signal: abort.signal }));
      await settle();
      const reason = { why: 'closing time' };
      abort.abort(reason);
      expect(await waiting).to.equal(reason);
      await settle();
      expect(server.entryCount).to.equal(1);
      await holder.release();
    });

    it('does not join when the signal has already aborted', async () => {
      const client = connect();
      expect(await rejection(client.acquire('x', { signal: AbortSignal.abort('no') }))).to.equal('no');
      expect(server.sessionIds).to.deep.equal([]);
    });

    it('ignores the signal and the timeout once the lock is held', async () => {
      const client = connect();
      const abort = new AbortController();
      const ownership = await client.acquire('x', { signal: abort.signal, timeoutMs: 5 });
      abort.abort();
      await clock.advance(10);
      expect(ownership.held).to.equal(true);
      await ownership.release();
    });

    it('causes no warning about too many listeners when one signal is used for many waits', async () => {
      const warnings: Error[] = [];
      const note = (warning: Error): void => void warnings.push(warning);
      process.on('warning', note);
      const [a, b] = [connect(), connect()];
      const holder = await a.acquire('x');
      const abort = new AbortController();
      const waits = Array.from({ length: 20 }, () => rejection(b.acquire('x', { signal: abort.signal })));
      await settle();
      abort.abort();
      await Promise.all(waits);
      await holder.release();
      await new Promise(setImmediate);
      process.off('warning', note);
      expect(warnings).to.deep.equal([]);
    });
  });

  describe('tryAcquire', () => {
    it('acquires a free lock', async () => {
      const ownership = await connect().tryAcquire('x');
      expect(ownership?.held).to.equal(true);
      await ownership?.release();
    });

    it('resolves with undefined when the lock is held, and leaves no entry', async () => {
      const [a, b] = [connect(), connect()];
      const holder = await a.acquire('x');
      expect(await b.tryAcquire('x')).to.equal(undefined);
      expect(server.entryCount).to.equal(1);
      await holder.release();
    });
  });

  describe('a claim', () => {
    it('emits the states joining, queued with the number of entries ahead, held and ended', async () => {
      const [a, b] = [connect(), connect()];
      const first = await a.acquire('x');
      const second = a.acquire('x');
      await settle();
      const { states } = follow(b);
      await settle();
      await first.release();
      await (await second).release();
      await settle();
      const held = states.at(-1);
      expect(statuses(states)).to.deep.equal(['joining', 'queued', 'held']);
      expect(states[1]).to.include({ entriesAhead: 2 });
      if (held?.status !== 'held') return expect.fail('not held');
      await held.ownership.release();
      expect(states.at(-1)).to.deep.equal({ status: 'ended', outcome: 'released' });
    });

    it('joins when subscribed and not before', async () => {
      const client = connect();
      void client.claim('x');
      await settle();
      expect(server.sessionIds).to.deep.equal([]);
    });

    it("emits no changes of the session's liveness after the claim was cancelled", async () => {
      let silent = false;
      let end: () => void = () => undefined;
      const silence = new Promise<void>((resolve) => (end = resolve));
      const client = connect({
        backend: { intercept: (_call, proceed) => (silent ? silence.then(proceed) : proceed()) },
      });
      const { states } = follow(client);
      await settle();
      const held = states.at(-1);
      if (held?.status !== 'held') return expect.fail('not held');
      silent = true;
      void held.ownership.release();
      await clock.advance(TTL_MS / 2);
      end();
      await settle();
      expect(statuses(states)).to.deep.equal(['joining', 'held', 'ended']);
    });

    it('leaves the queue when a waiter unsubscribes', async () => {
      const [a, b] = [connect(), connect()];
      const holder = await a.acquire('x');
      const { subscription } = follow(b);
      await settle();
      subscription.unsubscribe();
      await settle();
      expect(server.entryCount).to.equal(1);
      await holder.release();
    });

    it('releases when the holder unsubscribes, and its ownership ends at that instant', async () => {
      const { states, subscription } = follow(connect());
      await settle();
      const held = states.at(-1);
      subscription.unsubscribe();
      if (held?.status !== 'held') return expect.fail('not held');
      expect(held.ownership.held).to.equal(false);
      await settle();
      expect(server.entryCount).to.equal(0);
    });

    it('creates a separate entry for each subscription', async () => {
      const client = connect();
      const claim$ = client.claim('x');
      const subscriptions = [claim$.subscribe(), claim$.subscribe()];
      await settle();
      expect(server.entryCount).to.equal(2);
      for (const subscription of subscriptions) subscription.unsubscribe();
      await settle();
    });

    it('ends with a typed error when another client removes its waiting entry', async () => {
      const [a, b] = [connect(), connect()];
      const holder = await a.acquire('x');
      const { states } = follow(b);
      await settle();
      server.evict(server.queues().get('x')?.[1]?.key ?? '');
      await settle();
      expect(states.at(-1)).to.include({ status: 'ended', outcome: 'failed' });
      expect(states.at(-1)).to.have.nested.property('error.code', 'ENTRY_LOST');
      await holder.release();
    });
  });

  describe('the session', () => {
    it('is shared by all claims of a client, and opened by the first', async () => {
      const client = connect();
      const holds = await Promise.all([client.acquire('x'), client.acquire('y'), client.acquire('z')]);
      expect(server.sessionIds).to.have.length(1);
      await Promise.all(holds.map((hold) => hold.release()));
      await client.run('x', () => undefined);
      expect(server.sessionIds).to.have.length(1);
    });

    it('is opened again when its opening took longer than the time that the opening proves', async () => {
      const openings: number[] = [];
      const slow: Intercept = async (call, proceed) => {
        const reply = await proceed();
        if (call === 'open' && openings.push(clock.now()) === 1) await elapsed(TTL_MS);
        return reply;
      };
      const client = connect({ backend: { intercept: slow }, connectTimeoutMs: 2 * TTL_MS });
      const statuses = follow(client).states;
      await clock.advance(TTL_MS);
      // Waits in real time, because the delay before the client opens another session does not use the
      // simulated clock.
      while (openings.length < 2) await new Promise((resolve) => setImmediate(resolve));
      await settle();
      expect(statuses.map(({ status }) => status)).to.deep.equal(['joining', 'held']);
      expect(server.sessionIds).to.have.length(1);
    });

    it('sends its first heartbeat at once when its opening took half the TTL', async () => {
      const calls: [string, number][] = [];
      const slow: Intercept = async (call, proceed) => {
        calls.push([call, clock.now()]);
        const reply = await proceed();
        if (call === 'open') await elapsed(TTL_MS / 2);
        return reply;
      };
      follow(connect({ backend: { intercept: slow }, connectTimeoutMs: TTL_MS }));
      await clock.advance(TTL_MS / 2);
      expect(calls.find(([call]) => call === 'renew')?.[1]).to.equal(TTL_MS / 2);
    });

    it('is kept alive by heartbeats for as long as the client is open', async () => {
      const ownership = await connect().acquire('x');
      await clock.advance(10 * TTL_MS);
      expect(ownership.held).to.equal(true);
      expect(ownership.remainingMs).to.be.within(TTL_MS / 2, TTL_MS);
      await ownership.release();
    });

    it('stays closed when the client is used after close', async () => {
      const client = connect();
      const states: string[] = [];
      client.session$.subscribe(({ status }) => states.push(status));
      await client.close();
      follow(client);
      expect(states).to.deep.equal(['idle', 'closed']);
    });

    it('emits its states: idle, opening, alive, closed', async () => {
      const client = connect();
      const states: string[] = [];
      client.session$.subscribe(({ status }) => states.push(status));
      await client.run('x', () => undefined);
      await client.close();
      expect(states).to.deep.equal(['idle', 'opening', 'alive', 'closed']);
    });

    it('becomes suspect when a heartbeat is overdue, and alive again with the next confirmed one', async () => {
      let lose = false;
      const client = connect({
        backend: {
          intercept: (call, proceed) => (lose && call === 'renew' ? new Promise(() => undefined) : proceed()),
        },
      });
      const { states, subscription } = follow(client);
      await settle();
      lose = true;
      await clock.advance(TTL_MS / 2);
      expect(statuses(states).at(-1)).to.equal('suspect');
      lose = false;
      await clock.advance(TTL_MS / 4);
      expect(statuses(states)).to.deep.equal(['joining', 'held', 'suspect', 'held']);
      subscription.unsubscribe();
      await settle();
    });

    it('revokes the lock before the server may grant it again, when heartbeats are not confirmed', async () => {
      let silent = false;
      const client = connect({
        backend: { intercept: (_call, proceed) => (silent ? Promise.reject(new Error('lost')) : proceed()) },
      });
      const ownership = await client.acquire('x');
      const waiter = connect().acquire('x');
      let lostAt: number | undefined;
      let grantedAt: number | undefined;
      ownership.signal.addEventListener('abort', () => (lostAt = clock.now()));
      const granted = waiter.then((next) => {
        grantedAt = clock.now();
        return next;
      });
      await clock.advance(TTL_MS);
      silent = true;
      for (let passed = 0; passed < 2 * TTL_MS; passed += 50) await clock.advance(50);
      expect(ownership.signal.reason).to.include({ code: 'OWNERSHIP_LOST', reason: 'heartbeat-timeout' });
      const next = await granted;
      expect(lostAt).to.be.below(grantedAt ?? 0);
      expect(next.token > ownership.token).to.equal(true);
      await next.release();
      silent = false;
    });

    it('is lost at the first read of `held` after the event loop was blocked for too long', async () => {
      const client = connect();
      const ownership = await client.acquire('x');
      const { signal } = ownership;
      const events: string[] = [];
      signal.addEventListener('abort', () => events.push('abort'));
      clock.stall(TTL_MS);
      events.push(`held ${String(ownership.held)}`);
      expect(events).to.deep.equal(['abort', 'held false']);
      expect(signal.aborted).to.equal(true);
      await settle();
    });

    it('ends all holds together when the first of them is notified of the loss', async () => {
      const reported$ = new Subject<never>();
      const backend = memory({ server });
      const open: typeof backend.open = async (ttlMs, signal) => {
        const session = await backend.open(ttlMs, signal);
        const enqueue = session.enqueue.bind(session);
        session.enqueue = async (spec) => {
          const placement = await enqueue(spec);
          return spec.queue === 'x'
            ? { ...placement, turns$: merge(placement.turns$, reported$) }
            : placement;
        };
        return session;
      };
      const client = createLockClient({ ...backend, open }, { clock, ttlMs: TTL_MS });
      clients.push(client);
      const [first, other] = [await client.acquire('x'), await client.acquire('y')];
      reported$.error(new QueueLockError('SESSION_LOST', 'expired'));
      expect([first.held, other.held]).to.deep.equal([false, false]);
      await settle();
    });

    it('aborts the signal of a hold when the signal is first read after the event loop was blocked for too long', async () => {
      const { signal } = await connect().acquire('x');
      clock.stall(TTL_MS);
      expect(() => {
        signal.throwIfAborted();
      }).to.throw('OWNERSHIP_LOST');
      await settle();
    });

    it('stays lost when a heartbeat is confirmed late', async () => {
      let reply: (() => void) | undefined;
      const client = connect({
        backend: {
          intercept: async (call, proceed) => {
            if (call !== 'renew') return proceed();
            const renewed = proceed();
            await new Promise<void>((resolve) => (reply = resolve));
            return renewed;
          },
        },
      });
      const ownership = await client.acquire('x');
      await clock.advance(TTL_MS / 4);
      clock.stall(TTL_MS);
      reply?.();
      await new Promise(setImmediate);
      expect(ownership.held).to.equal(false);
    });

    it('ends every hold and every wait with a typed reason when the server has expired the session', async () => {
      const [a, b] = [connect(), connect()];
      const held = await a.acquire('x');
      const other = await b.acquire('y');
      const waiting = rejection(a.acquire('y'));
      await settle();
      server.expireSession(server.sessionIds[0] ?? '');
      await clock.advance(TTL_MS / 2);
      expect(held.signal.reason).to.include({ code: 'OWNERSHIP_LOST' });
      expect(isQueueLockError(await waiting)).to.equal(true);
      expect(await a.run('x', ({ held: anew }) => anew), 'a new session serves new requests').to.equal(true);
      await other.release();
    });

    it('is replaced without an error when it ends before the entry of a claim exists', async () => {
      let lost = true;
      const client = connect({
        backend: {
          intercept: (call, proceed) =>
            lost && call !== 'open' && call !== 'close' ? Promise.reject(new Error('cut')) : proceed(),
        },
      });
      const acquired = client.acquire('x');
      await clock.advance(TTL_MS);
      lost = false;
      const ownership = await acquired;
      expect(ownership.held).to.equal(true);
      await ownership.release();
    });

    it('ends all its holds at one instant, with the signal of each aborted', async () => {
      const client = connect();
      const [first, second] = [await client.acquire('x'), await client.acquire('y')];
      const reads: boolean[] = [];
      first.signal.addEventListener('abort', () => reads.push(second.signal.aborted, !second.held));
      second.signal.addEventListener('abort', () => reads.push(first.signal.aborted, !first.held));
      clock.stall(TTL_MS);
      expect(first.held).to.equal(false);
      expect(reads).to.deep.equal([true, true, true, true]);
      await settle();
    });

    it('is replaced without an error when a claim finds it expired before its entry exists', async () => {
      const client = connect();
      await client.run('x', () => undefined);
      server.expireSession(server.sessionIds[0] ?? '');
      expect(await client.run('x', ({ held }) => held)).to.equal(true);
    });
  });

  describe('a request whose outcome is unknown', () => {
    it('is the cause of the error when the wait times out', async () => {
      const refusing: Intercept = (call, proceed) =>
        call === 'enqueue' ? Promise.reject(new Error('no space left')) : proceed();
      const client = connect({ backend: { intercept: refusing } });
      const late = rejection(client.acquire('x', { timeoutMs: 40 }));
      await clock.advance(40);
      const error = await late;
      expect(error)
        .to.have.property('message')
        .that.matches(/^\[UNAVAILABLE\] .* 40 ms.*: no space left$/);
      expect(error).to.have.nested.property('cause.message', 'no space left');
    });

    it('is retried when it joins a queue, and leads to one entry', async () => {
      let lost = 0;
      const client = connect({
        backend: {
          intercept: async (call, proceed) => {
            const reply = await proceed();
            if (call === 'enqueue' && lost++ < 2) throw new Error('connection reset');
            return reply;
          },
        },
      });
      const ownership = await client.acquire('x');
      expect(server.entryCount).to.equal(1);
      expect(lost).to.equal(3);
      await ownership.release();
    });

    it('differs from a refused request, which leaves other holds of the session untouched', async () => {
      const denied = new QueueLockError('ACCESS_DENIED', 'not yours');
      let refusing = false;
      const client = connect({
        backend: { intercept: (_call, proceed) => (refusing ? Promise.reject(denied) : proceed()) },
      });
      const held = await client.acquire('x');
      refusing = true;
      expect(await rejection(client.acquire('y'))).to.include({ code: 'ACCESS_DENIED', cause: denied });
      await settle();
      refusing = false;
      expect(held.held).to.equal(true);
      await held.release();
    });

    it('is retried when it releases a lock, until the release is confirmed', async () => {
      let failures = 0;
      const client = connect({
        backend: {
          intercept: (call, proceed) =>
            call === 'remove' && failures++ < 2 ? Promise.reject(new Error('connection reset')) : proceed(),
        },
      });
      await (await client.acquire('x')).release();
      expect(server.entryCount).to.equal(0);
      expect(failures).to.equal(3);
    });

    it('is retried for a release, and does not release a later hold of the client', async () => {
      let lost = false;
      const client = connect({
        backend: {
          intercept: async (call, proceed) => {
            const reply = await proceed();
            if (call !== 'remove' || lost) return reply;
            lost = true;
            throw new Error('connection reset');
          },
        },
      });
      const first = await client.acquire('x');
      const next = client.acquire('x');
      const released = first.release();
      const second = await next;
      await clock.advance(TTL_MS / 2);
      await released;
      expect([lost, second.held, server.entryCount]).to.deep.equal([true, true, 1]);
      await second.release();
    });

    it('delays a release at most until the session has ended', async () => {
      let away = false;
      const cut = connect({
        backend: { intercept: (_call, proceed) => (away ? Promise.reject(new Error('cut')) : proceed()) },
      });
      const mine = await cut.acquire('x');
      const next = connect().acquire('x');
      away = true;
      const released = mine.release();
      await clock.advance(TTL_MS);
      const holder = await next;
      away = false;
      await clock.advance(TTL_MS / 2);
      await released;
      const again = cut.acquire('x');
      await settle();
      expect([holder.held, server.entryCount]).to.deep.equal([true, 2]);
      await holder.release();
      await (await again).release();
    });

    it('delays the end of a run at most until the session has ended', async () => {
      let away = false;
      const cut = connect({
        backend: { intercept: (_call, proceed) => (away ? Promise.reject(new Error('cut')) : proceed()) },
      });
      let replied: unknown;
      const running = cut.run('x', () => {
        away = true;
        return 'done';
      });
      void running.then((reply) => (replied = reply));
      await clock.advance(TTL_MS / 2);
      expect(replied).to.equal(undefined);
      const next = connect().acquire('x');
      await clock.advance(TTL_MS / 2);
      expect([await running, replied]).to.deep.equal(['done', 'done']);
      away = false;
      await (await next).release();
    });
  });

  describe('watch', () => {
    it('emits the queue on subscription and after every change, with owners and metadata', async () => {
      const [a, b] = [connect({ owner: 'ann' }), connect({ owner: 'bob' })];
      const views: string[][] = [];
      const subscription = a.watch('x').subscribe(({ status, entries }) => {
        views.push([status, ...entries.map(({ owner, metadata }) => owner + (metadata['job'] ?? ''))]);
      });
      await settle();
      const first = await a.acquire('x', { metadata: { job: '7' } });
      const second = b.acquire('x', { owner: 'bob junior' });
      await settle();
      await first.release();
      await (await second).release();
      await settle();
      subscription.unsubscribe();
      expect(views).to.deep.equal([
        ['connecting'],
        ['live'],
        ['live', 'ann7'],
        ['live', 'ann7', 'bob junior'],
        ['live', 'bob junior'],
        ['live'],
      ]);
    });

    it('shares one watch of the store among all observers', async () => {
      const client = connect();
      const holder = await client.acquire('x');
      const first = client.watch('x').subscribe();
      await settle();
      const watchers = server.watcherCount;
      const seen: number[] = [];
      const second = client.watch('x').subscribe(({ entries }) => seen.push(entries.length));
      expect(seen).to.deep.equal([1]);
      expect(server.watcherCount).to.equal(watchers);
      first.unsubscribe();
      second.unsubscribe();
      await holder.release();
    });

    it('emits the error of the store while its data is not live', async () => {
      let problem: Error | undefined = new QueueLockError('FOREIGN_FORMAT', 'a latch stands in this queue');
      const sound = memory({ server });
      const backend = {
        ...sound,
        observe: (name: string) => (problem ? throwError(() => problem) : sound.observe(name)),
      };
      const client = createLockClient(backend, { clock, ttlMs: TTL_MS });
      clients.push(client);
      const views: unknown[] = [];
      const subscription = client.watch('x').subscribe((view) => views.push([view.status, view.error]));
      await settle();
      expect(views).to.deep.equal([
        ['connecting', undefined],
        ['connecting', problem],
      ]);
      problem = undefined;
      await clock.advance(1_000);
      expect(views.at(-1)).to.deep.equal(['live', undefined]);
      subscription.unsubscribe();
    });

    it('completes when the client is closed', async () => {
      const client = connect();
      let completed = false;
      client.watch('x').subscribe({ complete: () => (completed = true) });
      await client.close();
      expect(completed).to.equal(true);
    });
  });

  describe('close', () => {
    it('rejects waits with CLOSED, ends holds with client-closed, and leaves no entries', async () => {
      const [a, b] = [connect(), connect()];
      const held = await a.acquire('x');
      const elsewhere = await b.acquire('y');
      const waiting = rejection(a.acquire('y'));
      await settle();
      await a.close();
      expect(held.signal.reason).to.include({ code: 'OWNERSHIP_LOST', reason: 'client-closed' });
      expect(await waiting).to.include({ code: 'CLOSED' });
      expect(server.entryCount).to.equal(1);
      await elsewhere.release();
    });

    it('makes every later call reject', async () => {
      const client = connect();
      await client.close();
      expect(await rejection(client.acquire('x'))).to.include({ code: 'CLOSED' });
      expect(await rejection(client.tryAcquire('x'))).to.include({ code: 'CLOSED' });
      expect(await rejection(client.run('x', () => 1))).to.include({ code: 'CLOSED' });
      await client.close();
    });

    it('ends a wait immediately while its join is in flight, and resolves only after the reply to the join', async () => {
      let reply: () => void = () => undefined;
      const replied = new Promise<void>((resolve) => (reply = resolve));
      const client = connect({
        backend: { intercept: (call, proceed) => (call === 'enqueue' ? replied.then(proceed) : proceed()) },
      });
      const waiting = rejection(client.acquire('x'));
      await settle();
      let closed = false;
      const closing = client.close().then(() => (closed = true));
      expect(await waiting).to.include({ code: 'CLOSED' });
      await settle();
      expect(closed).to.equal(false);
      reply();
      await closing;
    });

    it('resolves when it is called during a join with a slow reply', async () => {
      const client = connect({ backend: { latencyMs: 100 } });
      const waiting = rejection(client.acquire('x'));
      await clock.advance(120);
      const closing = client.close();
      await clock.advance(1_000);
      await closing;
      expect(await waiting).to.include({ code: 'CLOSED' });
    });
  });

  it('grants 200 contenders of four clients in the order of their entries, one at a time', async () => {
    const four = [connect(), connect(), connect(), connect()];
    const holds: Ownership[] = [];
    let inside = 0;
    await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        four[n % 4]!.run('x', async (ownership) => {
          expect(++inside).to.equal(1);
          holds.push(ownership);
          await Promise.resolve();
          inside--;
        }),
      ),
    );
    const orders = holds.map(({ order }) => order);
    expect(orders).to.deep.equal([...orders].sort((a, b) => (a < b ? -1 : 1)));
    expect(holds).to.have.length(200);
  });
});
