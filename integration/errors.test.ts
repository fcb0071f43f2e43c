import { expect } from 'chai';
import { filter, firstValueFrom } from 'rxjs';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer, type AddressInfo, type Server } from 'node:net';
import {
  QueueLockError,
  createLockClient,
  isQueueLockError,
  type LockClient,
  type QueueLockErrorCode,
  type RevocationReason,
} from '@queuelock/core';
import { BridgeError, createBridgeClient } from '@queuelock/bridge/client';
import { etcd } from '@queuelock/etcd';
import { expectAccepted } from '@queuelock/fencing';
import {
  createMemoryServer,
  memory,
  virtualClock,
  type Intercept,
  type MemoryServer,
  type VirtualClock,
} from '@queuelock/memory';
import { createLockManager } from '@queuelock/weblocks';
import { acquireOrYield, watchDeadlocks } from '@queuelock/recipes';

const TTL_MS = 10_000;

/** Creates the clients and servers with which a test causes errors, and closes them. */
class Stage {
  readonly clock: VirtualClock = virtualClock();
  readonly server: MemoryServer = createMemoryServer({ clock: this.clock });
  readonly #undo: (() => unknown)[] = [];

  client(intercept?: Intercept): LockClient {
    const backend = memory({ server: this.server, ...(intercept ? { intercept } : {}) });
    const client = createLockClient(backend, { clock: this.clock, ttlMs: TTL_MS });
    this.#undo.push(() => client.close());
    return client;
  }

  keep<T>(thing: T, undo: (thing: T) => unknown): T {
    this.#undo.push(() => undo(thing));
    return thing;
  }

  async end(): Promise<void> {
    await Promise.all(this.#undo.map((undo) => undo()));
  }
}

/** Returns the error with which the promise rejects, and fails the test if it resolves. */
async function errorOf(attempt: Promise<unknown>): Promise<unknown> {
  return attempt.then(
    (value) => expect.fail(`it answered ${String(value)}`),
    (error: unknown) => error,
  );
}

/** Makes the server listen on a free port of this machine. Resolves with its address. */
async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

interface Row {
  /** Causes an error with one of the codes on a real backend or server. Resolves with that error. */
  readonly make: (stage: Stage) => Promise<unknown>;
  /**
   * Texts that the message must contain: the name of the lock or the endpoint, the reason, and what to do.
   */
  readonly says: readonly RegExp[];
}

const refuse =
  (call: string, code: QueueLockErrorCode, why: string): Intercept =>
  async (requested, proceed) => {
    if (requested === call) throw new QueueLockError(code, why);
    return proceed();
  };

const CODES: Readonly<Record<QueueLockErrorCode, Row>> = {
  INVALID_ARGUMENT: {
    make: (stage) => errorOf(stage.client().acquire('x', { timeout: 5 } as never)),
    says: [/options of acquire/, /timeout is unknown/, /did you mean timeoutMs/],
  },
  TIMEOUT: {
    async make(stage) {
      await stage.client().acquire('x');
      const late = errorOf(stage.client().acquire('x', { timeoutMs: 50 }));
      await stage.clock.advance(50);
      return late;
    },
    says: [/"x"/, /within 50 ms \(timeoutMs\)/, /other holders or waiters are ahead/],
  },
  WORK_TIMEOUT: {
    async make(stage) {
      const work = (_hold: unknown, stop: AbortSignal): Promise<never> =>
        new Promise((_resolve, reject) => stop.addEventListener('abort', () => reject(new Error('stopped'))));
      const run = errorOf(stage.client().run('x', work, { workTimeoutMs: 50 }));
      await stage.clock.advance(50);
      return run;
    },
    says: [/"x"/, /signal of the work aborted after 50 ms \(workTimeoutMs\)/, /may have had effects/],
  },
  REENTRANT: {
    make(stage) {
      const client = stage.client();
      return client.run('x', () => errorOf(client.run('x', () => undefined)));
    },
    says: [/"x"/, /would wait for itself forever/, /reentrant: true/],
  },
  CLOSED: {
    async make(stage) {
      const client = stage.client();
      await client.close();
      return errorOf(client.acquire('x'));
    },
    says: [/"x"/, /the client was closed/, /close it after its last call, or create another client/],
  },
  UNAVAILABLE: {
    async make(stage) {
      // Uses a server that accepts the connection and never sends data.
      const silent = stage.keep(createServer(), (server) => server.close());
      silent.on('connection', (socket) => stage.keep(socket, () => socket.destroy()));
      const backend = etcd({ hosts: await listening(silent) });
      const client = stage.keep(createLockClient(backend, { connectTimeoutMs: 100 }), (one) => one.close());
      return errorOf(client.acquire('x'));
    },
    says: [
      /"x"/,
      /etcd:\/\/127\.0\.0\.1:\d+/,
      /within 100 ms \(connectTimeoutMs\)/,
      /check that the server runs/,
    ],
  },
  ACCESS_DENIED: {
    async make(stage) {
      // Uses a server that speaks gRPC and refuses all requests.
      const refusing = stage.keep(createHttp2Server(), (server) => server.close());
      refusing.on('session', (session) => stage.keep(session, () => session.destroy()));
      refusing.on('stream', (stream) => {
        const status = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '7' };
        stream.respond({ ...status, 'grpc-message': 'etcdserver: permission denied' }, { endStream: true });
      });
      const backend = etcd({ hosts: await listening(refusing) });
      return errorOf(stage.keep(createLockClient(backend), (one) => one.close()).acquire('x'));
    },
    says: [/"x"/, /127\.0\.0\.1:\d+/, /permission denied/, /check user, password and permissions/],
  },
  SESSION_LOST: {
    async make(stage) {
      await stage.client().acquire('x');
      const waiting = errorOf(stage.client().acquire('x'));
      await stage.clock.advance(0);
      stage.server.expireSession(stage.server.queues().get('x')![1]!.sessionId);
      return waiting;
    },
    says: [/"x"/, /session/, /try again/],
  },
  ENTRY_LOST: {
    async make(stage) {
      const holder = stage.client();
      await holder.acquire('x');
      const waiting = errorOf(stage.client().acquire('x'));
      await stage.clock.advance(0);
      const isLive$ = holder.watch('x').pipe(filter(({ status }) => status === 'live'));
      const queue = await firstValueFrom(isLive$, { defaultValue: undefined });
      await holder.evict('x', queue!.entries[1]!, { reason: 'too many' });
      return waiting;
    },
    says: [/"x"/, /removed/, /too many/],
  },
  OWNERSHIP_LOST: {
    async make(stage) {
      const run = errorOf(
        stage
          .client()
          .run('x', (_hold, stop) => new Promise((resolve) => stop.addEventListener('abort', resolve))),
      );
      await stage.clock.advance(0);
      stage.server.expireSession(stage.server.queues().get('x')![0]!.sessionId);
      return run;
    },
    says: [/"x"/, /was lost while the work ran/, /session/, /may have had effects/],
  },
  NOT_ENOUGH_TIME: {
    async make(stage) {
      const ownership = await stage.client().acquire('x');
      try {
        ownership.throwIfLost(TTL_MS * 2);
      } catch (error) {
        return error;
      }
      return undefined;
    },
    says: [/"x"/, /\d+ ms of the hold are proven, and minRemainingMs is 20000/, /raise ttlMs/],
  },
  QUEUE_FULL: {
    async make(stage) {
      await stage.client().acquire('x');
      void errorOf(stage.client().acquire('x'));
      await stage.clock.advance(0);
      return errorOf(stage.client().acquire('x', { maxWaiters: 1 }));
    },
    says: [/"x"/, /wait already: 1/, /maxWaiters is 1/, /try again later/],
  },
  WAIT_TOO_LONG: {
    async make(stage) {
      const holder = stage.client();
      for (let round = 0; round < 3; round += 1) await holder.run('x', () => stage.clock.advance(5_000));
      await holder.acquire('x');
      return errorOf(stage.client().acquire('x', { maxExpectedWaitMs: 10 }));
    },
    says: [/"x"/, /a wait of \d+ ms is expected/, /maxExpectedWaitMs is 10/, /try again later/],
  },
  LIMIT_MISMATCH: {
    async make(stage) {
      await stage.client().acquire('x', { limit: 5 });
      return errorOf(stage.client().acquire('x', { limit: 6 }));
    },
    says: [/"x"/, /a limit of 5, here it is 6/, /use the same number in all clients, or another name/],
  },
  // Makes the memory backend throw the error. Only ZooKeeper queues can have nodes of other libraries, and
  // ZooKeeper's own tests cause the error with real nodes.
  FOREIGN_FORMAT: {
    make: (stage) =>
      errorOf(stage.client(refuse('enqueue', 'FOREIGN_FORMAT', 'the node of kazoo')).acquire('x')),
    says: [/"x"/, /the node of kazoo/],
  },
  DEADLOCK: {
    async make(stage) {
      const [one, two] = [stage.client(), stage.client()];
      const deadlocks$ = watchDeadlocks([{ client: one, names: ['x', 'y'] }], { confirmMs: 10 });
      const [x, y] = [await one.acquire('x'), await two.acquire('y')];
      const first = one.acquire('y', { holding: [x] });
      await stage.clock.advance(0);
      const error = errorOf(acquireOrYield(two, 'x', { deadlocks$, holding: [y] }));
      for (let steps = 0; steps < 20; steps += 1) {
        await stage.clock.advance(10);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await y.release();
      await first;
      return error;
    },
    says: [/"x"/, /release what is held/],
  },
};

const REASONS: Readonly<Record<RevocationReason, Row>> = {
  'session-lost': { make: CODES.OWNERSHIP_LOST.make, says: [/"x"/, /session/] },
  'heartbeat-timeout': {
    async make(stage) {
      let isCut = false;
      const client = stage.client(async (_call, proceed) => {
        if (isCut) throw new QueueLockError('UNAVAILABLE', 'the connection is cut');
        return proceed();
      });
      const { signal } = await client.acquire('x');
      isCut = true;
      await stage.clock.advance(TTL_MS);
      isCut = false;
      return signal.reason as unknown;
    },
    says: [/"x"/, /heartbeat/],
  },
  'entry-removed': {
    async make(stage) {
      const { signal } = await stage.client().acquire('x');
      stage.server.evict(stage.server.queues().get('x')![0]!.key);
      await stage.clock.advance(1_000);
      return signal.reason as unknown;
    },
    says: [/"x"/, /removed/],
  },
  'client-closed': {
    async make(stage) {
      const client = stage.client();
      const { signal } = await client.acquire('x');
      await client.close();
      return signal.reason as unknown;
    },
    says: [/"x"/, /client was closed/],
  },
};

describe('the message of an error', () => {
  let stage: Stage;

  beforeEach(() => {
    stage = new Stage();
  });

  afterEach(() => stage.end());

  for (const [code, { make, says }] of Object.entries(CODES)) {
    it(`of code ${code} names the lock, the reason, and what to do`, async () => {
      const error = await make(stage);
      if (process.env['SHOW']) console.log(String(error));
      expect(isQueueLockError(error, code as QueueLockErrorCode), String(error)).to.equal(true);
      for (const part of says) expect((error as Error).message).to.match(part);
      expect((error as Error).message.startsWith(`[${code}] `)).to.equal(true);
      expect((error as Error).message, 'said once').to.not.match(/("x").*: \1:/);
    });
  }

  for (const [reason, { make, says }] of Object.entries(REASONS)) {
    it(`of OWNERSHIP_LOST describes the reason ${reason} in words`, async () => {
      const error = await make(stage);
      if (process.env['SHOW']) console.log(String(error));
      expect(error).to.include({ code: 'OWNERSHIP_LOST', reason });
      for (const part of says) expect((error as Error).message).to.match(part);
    });
  }

  it('about a rejected fenced write names the lock, the token and the resource that rejected it', async () => {
    const reason =
      'the hold of "x" with token 3 is refused by the row: a later holder wrote there, with token 5';
    const error = await errorOf(expectAccepted({ outcome: 'refused', reason }));
    expect(error).to.include({ code: 'OWNERSHIP_LOST', message: `[OWNERSHIP_LOST] ${reason}` });
  });

  it('of a BridgeError states that the bridge cannot be reached', async () => {
    const bridge = stage.keep(createBridgeClient({ url: 'http://127.0.0.1:1' }), (client) => client.close());
    const unreachable$ = bridge.queue('x').pipe(filter(({ error }) => error !== undefined));
    const seen = await firstValueFrom(unreachable$, { defaultValue: undefined });
    const error = seen?.error;
    expect(error).to.be.an.instanceOf(BridgeError);
    expect(error).to.include({ code: 'UNAVAILABLE', retryable: true });
    expect(error!.message).to.match(/the bridge cannot be reached: ./);
  });

  it('of a stolen web lock names the lock, and the error is an AbortError as in the standard', async () => {
    const locks = stage.keep(createLockManager(memory()), (manager) => manager.close());
    const held = errorOf(locks.request('x', () => new Promise(() => undefined)));
    await locks.request('x', { steal: true }, () => undefined);
    expect(await held).to.include({ name: 'AbortError', message: 'the lock "x" is not held any more' });
  });
});
