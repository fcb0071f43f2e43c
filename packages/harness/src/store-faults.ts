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
// The program that holds a lock. It runs from its source, because it imports the sources of any backend.
const HOLDER = fromSource(fileURLToPath(new URL('./holder.ts', import.meta.url)));

/** A store with one server whose data survives a kill, and its backend. */
export interface Store {
  readonly server: ProcessService;
  /** Returns the URL for that endpoint. */
  urlAt(endpoint: string): string;
  /** Module of the backend for other processes, and its name there. */
  readonly module: string;
  readonly name: string;
  backend(options: { readonly url: string; readonly requestTimeoutMs?: number }): Backend;
  /** Returns whether these bytes of a client contain a step on the entry with that id. */
  isStep(chunk: Buffer, id: string): boolean;
  /** Returns the number of entries in the queue, as an operator sees it. */
  entries(queue: string): Promise<number>;
  /** Removes all entries of the queue directly in the store: no client is notified. */
  forget(queue: string): Promise<void>;
  /** Called after the server was restarted. */
  reconnect(): Promise<void>;
}

/** Defines tests about faults of a process, of a connection or of the only server. `store` is called after its hooks have run. */
export function faultsOn(store: () => Store): void {
  const bench = new Bench(store);
  faultsOfHolders(bench);
  faultsOfConnections(bench);
  faultsOfReplies(bench);
  faultsOfTheServer(bench);
}

function faultsOfHolders(bench: Bench): void {
  it('that kills a holder frees the lock when its lease ends', async () => {
    const holder = await bench.holder('killed');
    const next = bench.locks().acquire('killed');
    await holder.kill();
    await (await next).release();
  }).timeout(WITHIN_MS);

  it('that stops a holder for longer than its TTL is known to it at its first read', async () => {
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
  it('that cuts every connection costs no hold and no position', async () => {
    const { proxy, url } = await bench.proxied();
    const holding = await bench.locks(url, LONG_TTL_MS).acquire('cut');
    const claim = bench.locks(url, LONG_TTL_MS).acquire('cut');
    await bench.untilInLine('cut', 2);
    proxy.cut();
    await holding.release();
    await (await claim).release();
  }).timeout(WITHIN_MS);

  it('that freezes a waiter over its grant is detected when it resumes', async () => {
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

  it('that ends every connection causes at most five attempts a second', async () => {
    const { proxy, session } = await bench.proxiedSession();
    await attemptsAreFew(proxy, session);
  }).timeout(WITHIN_MS);
}

function faultsOfReplies(bench: Bench): void {
  it('that loses the reply to an enqueue leaves one entry, which the retry returns', async () => {
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

  it('that loses the reply to a removal has removed the entry', async () => {
    const { proxy, session } = await bench.proxiedSession();
    const [first, wanted] = [newSpec({ queue: 'lost removal' }), newSpec({ queue: 'lost removal' })];
    for (const spec of [first, wanted]) await session.enqueue(spec);
    // Removes one entry first, so that the server has the script cached from now on.
    await session.remove('lost removal', first.id);
    const reply = proxy.loseNextReply((chunk) => bench.store().isStep(chunk, wanted.id));
    expect(await refusal(session.remove('lost removal', wanted.id))).to.include({ code: 'UNAVAILABLE' });
    await reply.lost;
    expect(await definite(() => session.remove('lost removal', wanted.id))).to.equal(false);
    await bench.untilInLine('lost removal', 0);
  }).timeout(WITHIN_MS);
}

function faultsOfTheServer(bench: Bench): void {
  it('that removes an entry is detected by the next renewal, and its holder is notified', async () => {
    const session = await bench.session();
    const loss = lost(await session.enqueue(newSpec({ queue: 'forgotten' })));
    await bench.store().forget('forgotten');
    await session.renew(signal);
    expect(await loss).to.equal('ENTRY_LOST');
  });

  it('that restarts the server loses no lock and no position', async () => {
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

/** Checks the number of attempts while connections are cut every few milliseconds before they receive data. */
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

/** Repeats a call until there is a definite outcome, as the core does. */
function definite<T>(call: () => Promise<T>): Promise<T> {
  return repeatUntilDefinite(call, AbortSignal.timeout(WITHIN_MS));
}

/** Resources of a test, closed at its end; registers the hooks of the suite that makes it. */
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

  /** Starts another process that holds the lock. */
  async holder(queue: string): Promise<ScriptProcess> {
    const { module, name } = this.store();
    const holder = new ScriptProcess(HOLDER, [module, name, this.url, queue, String(TTL_MS)]);
    await holder.untilEvent('held');
    return holder;
  }

  async untilInLine(queue: string, count: number): Promise<void> {
    const look = async (): Promise<void> => {
      expect(await this.store().entries(queue)).to.equal(count);
    };
    await until(look, { what: `${count} in the line ${queue}`, withinMs: WITHIN_MS / 2 });
  }
}
