import { expect } from 'chai';
import { fileURLToPath } from 'node:url';
import { createLockClient, type LockClient } from '@queuelock/core';
import { repeatUntilDefinite, type Backend, type Session } from '@queuelock/core/backend';
import { startProxy, type TcpProxy } from './faults.ts';
import { fromSource } from './services/script.ts';
import { ScriptProcess, endScripts } from './services/script-process.ts';
import type { ProcessService } from './services/service.ts';
import { until } from './services/until.ts';
import { lost, refusal, signal, newSpec } from './specs.ts';

const TTL_MS = 2_000;
const LONG_TTL_MS = 60_000;
const WITHIN_MS = 60_000;
const REQUEST_TIMEOUT_MS = 500;
// The arguments that start the program which holds a lock in these tests. It runs from its source, because it
// imports the sources of any backend.
const HOLDER = fromSource(fileURLToPath(new URL('./holder.ts', import.meta.url)));

/** A server whose data survives a kill, and the backend that connects to the server. */
export interface Store {
  readonly server: ProcessService;
  /** Returns the URL with which a backend connects to a server at the address `endpoint`. */
  urlAt(endpoint: string): string;
  /**
   * The module that exports the function `name`, which creates the backend. With it, another process creates the
   * backend.
   */
  readonly module: string;
  readonly name: string;
  backend(options: { readonly url: string; readonly requestTimeoutMs?: number }): Backend;
  /** Returns whether data that a client sends contains a request that changes the entry with the id `id`. */
  isStep(chunk: Buffer, id: string): boolean;
  /** Returns the number of entries in the queue, read directly from the store. */
  entries(queue: string): Promise<number>;
  /** Removes all entries of the queue directly in the store, without a notification to any client. */
  forget(queue: string): Promise<void>;
  /** Opens the test's own connections to the store again. Called after a restart of the server. */
  reconnect(): Promise<void>;
}

/**
 * Defines tests with faults of a process, of a connection and of a store's only server. `store` is called in
 * the tests, after the hooks of the suite have started the server.
 */
export function faultsOn(store: () => Store): void {
  const bench = new Bench(store);
  faultsOfHolders(bench);
  faultsOfConnections(bench);
  faultsOfReplies(bench);
  faultsOfTheServer(bench);
}

function faultsOfHolders(bench: Bench): void {
  it('frees the lock of a killed holder when its lease ends', async () => {
    const holder = await bench.holder('killed');
    const next = bench.locks().acquire('killed');
    await holder.kill();
    await (await next).release();
  }).timeout(WITHIN_MS);

  it('lets a holder whose process was stopped for longer than its TTL detect the loss as soon as it resumes', async () => {
    const holder = await bench.holder('stopped');
    const next = bench.locks().acquire('stopped');
    await holder.freeze();
    const ownership = await next;
    await holder.thaw();
    await holder.untilEvent('lost');
    expect(ownership.held).to.equal(true);
    await ownership.release();
  }).timeout(WITHIN_MS);
}

function faultsOfConnections(bench: Bench): void {
  it("keeps a client's holds and positions when all its connections are cut", async () => {
    const { proxy, url } = await bench.proxied();
    const holding = await bench.locks(url, LONG_TTL_MS).acquire('cut');
    const claim = bench.locks(url, LONG_TTL_MS).acquire('cut');
    await bench.untilInLine('cut', 2);
    proxy.cut();
    await holding.release();
    await (await claim).release();
  }).timeout(WITHIN_MS);

  it('grants the lock to a waiter that was disconnected during the hand-off, once it reconnects', async () => {
    const { proxy, url } = await bench.proxied();
    const holding = await bench.locks(bench.url, LONG_TTL_MS).acquire('away');
    const claim = bench.locks(url, LONG_TTL_MS).acquire('away');
    await bench.untilInLine('away', 2);
    proxy.refuse();
    proxy.cut();
    await holding.release();
    await proxy.accept();
    await (await claim).release();
  }).timeout(WITHIN_MS);

  it('gets at most five connection attempts a second from a client while every connection is cut', async () => {
    const { proxy, session } = await bench.proxiedSession();
    await attemptsAreFew(proxy, session);
  }).timeout(WITHIN_MS);
}

function faultsOfReplies(bench: Bench): void {
  it('contains one entry when the reply to an enqueue is lost, and the retry returns that entry', async () => {
    const { proxy, session } = await bench.proxiedSession();
    const wanted = newSpec({ queue: 'lost reply' });
    const first = await session.enqueue(newSpec({ queue: 'lost reply' }));
    const reply = proxy.loseNextReply((chunk) => bench.store().isStep(chunk, wanted.id));
    expect(await refusal(session.enqueue(wanted))).to.include({ code: 'UNAVAILABLE' });
    await reply.lost;
    const again = await definite(() => session.enqueue(wanted));
    expect(again.order > first.order).to.equal(true);
    expect(again.turn).to.deep.equal({ admitted: false, ahead: 1 });
    await bench.untilInLine('lost reply', 2);
  }).timeout(WITHIN_MS);

  it('has removed the entry when only the reply to its removal is lost', async () => {
    const { proxy, session } = await bench.proxiedSession();
    const [first, wanted] = [newSpec({ queue: 'lost removal' }), newSpec({ queue: 'lost removal' })];
    for (const spec of [first, wanted]) await session.enqueue(spec);
    // Removes another entry first. Redis gets the removal script with its first use and caches it. So the
    // next removal is a single request, and losing its reply is a single fault.
    await session.remove('lost removal', first.id);
    const reply = proxy.loseNextReply((chunk) => bench.store().isStep(chunk, wanted.id));
    expect(await refusal(session.remove('lost removal', wanted.id))).to.include({ code: 'UNAVAILABLE' });
    await reply.lost;
    expect(await definite(() => session.remove('lost removal', wanted.id))).to.equal(false);
    await bench.untilInLine('lost removal', 0);
  }).timeout(WITHIN_MS);
}

function faultsOfTheServer(bench: Bench): void {
  it('notifies the holder at the next heartbeat when an operator has removed its entry', async () => {
    const session = await bench.session();
    const loss = lost(await session.enqueue(newSpec({ queue: 'forgotten' })));
    await bench.store().forget('forgotten');
    await session.renew(signal);
    expect(await loss).to.equal('ENTRY_LOST');
  });

  it('keeps holds and positions over a restart of the server', async () => {
    const holding = await bench.locks(bench.url, LONG_TTL_MS).acquire('restarted');
    const claim = bench.locks(bench.url, LONG_TTL_MS).acquire('restarted');
    await bench.untilInLine('restarted', 2);
    await bench.store().server.kill();
    await bench.store().server.restart();
    await bench.store().reconnect();
    expect(holding.held).to.equal(true);
    await holding.release();
    const next = await claim;
    expect(next.token > holding.token).to.equal(true);
    await next.release();
  }).timeout(WITHIN_MS);
}

/**
 * Checks that a client makes few connection attempts while its connections are cut every few milliseconds,
 * before the server receives data.
 */
async function attemptsAreFew(proxy: TcpProxy, session: Session): Promise<void> {
  const before = proxy.accepted;
  const beganAt = performance.now();
  proxy.toServer.blackhole();
  const cutting = setInterval(() => proxy.cut(), 5);
  while (proxy.accepted - before <= 5) await session.renew(signal).catch(() => undefined);
  const seconds = (performance.now() - beganAt) / 1_000;
  clearInterval(cutting);
  expect(proxy.accepted - before).to.be.at.most(5 * (seconds + 1));
  await proxy.heal();
  proxy.cut();
  await definite(() => session.renew(signal));
}

/**
 * Repeats a call until the outcome is definite. The core of queuelock does the same when it does not know
 * whether a change of an entry took effect.
 */
function definite<T>(call: () => Promise<T>): Promise<T> {
  return repeatUntilDefinite(call, AbortSignal.timeout(WITHIN_MS));
}

/**
 * Creates the clients, backends, proxies and processes of a test. Registers hooks of the surrounding suite
 * that close them after each test.
 */
class Bench {
  readonly store: () => Store;
  readonly #locks: LockClient[] = [];
  readonly #backends: Backend[] = [];
  readonly #proxies: TcpProxy[] = [];

  constructor(store: () => Store) {
    this.store = store;
    afterEach(async () => {
      await endScripts();
      await Promise.all(this.#locks.splice(0).map((client) => client.close()));
      await Promise.all(this.#backends.splice(0).map((backend) => backend.close()));
      await Promise.all(this.#proxies.splice(0).map((proxy) => proxy.stop()));
    });
  }

  get url(): string {
    return this.store().urlAt(this.store().server.endpoint);
  }

  locks(url = this.url, ttlMs = TTL_MS): LockClient {
    const client = createLockClient(this.store().backend({ url }), { ttlMs });
    this.#locks.push(client);
    return client;
  }

  async session(url = this.url): Promise<Session> {
    const backend = this.store().backend({ url, requestTimeoutMs: REQUEST_TIMEOUT_MS });
    this.#backends.push(backend);
    return backend.open(LONG_TTL_MS, signal);
  }

  async proxied(): Promise<{ readonly proxy: TcpProxy; readonly url: string }> {
    const proxy = await startProxy(this.store().server.endpoint);
    this.#proxies.push(proxy);
    return { proxy, url: this.store().urlAt(proxy.endpoint) };
  }

  async proxiedSession(): Promise<{ readonly proxy: TcpProxy; readonly session: Session }> {
    const { proxy, url } = await this.proxied();
    return { proxy, session: await this.session(url) };
  }

  /** Starts another process that acquires the lock of the queue. Resolves when that process holds it. */
  async holder(queue: string): Promise<ScriptProcess> {
    const { module, name } = this.store();
    const holder = new ScriptProcess(HOLDER, [module, name, this.url, queue, String(TTL_MS)]);
    await holder.untilEvent('held');
    return holder;
  }

  async untilInLine(queue: string, count: number): Promise<void> {
    const read = async (): Promise<void> => {
      expect(await this.store().entries(queue)).to.equal(count);
    };
    await until(read, { what: `${count} in the line ${queue}`, withinMs: WITHIN_MS / 2 });
  }
}
