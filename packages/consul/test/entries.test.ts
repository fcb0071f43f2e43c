import { expect } from 'chai';
import { createLockClient } from '@queuelock/core';
import { isQueueLockError, type Backend, type EntrySpec, type Session } from '@queuelock/core/backend';
import { sharedConsul } from '@queuelock/harness/services';
import { until } from '@queuelock/harness/services/until';
import { consul, type ConsulOptions } from '@queuelock/consul';
import { HttpProxy } from './http-proxy.ts';
import { Operator } from './operator.ts';

const PREFIX = 'entries/';
const TTL_MS = 20_000;
const { signal } = new AbortController();

let ids = 0;
function specOf(of: Partial<EntrySpec> = {}): EntrySpec {
  ids += 1;
  return { queue: 'jobs', id: ids.toString(16).padStart(32, '0'), shared: false, limit: 1, ...of };
}

function isLock({ path, body }: { readonly path: string; readonly body: string }): boolean {
  return path.startsWith('/v1/txn') && body.includes('"lock"') && body.includes('/queues/');
}

describe('a session on Consul', function () {
  this.timeout(60_000);
  const backends: Backend[] = [];
  const proxies: HttpProxy[] = [];
  let endpoint: string;
  let operator: Operator;

  before(async () => {
    ({ endpoint } = await sharedConsul('entries of @queuelock/consul'));
    operator = new Operator(endpoint);
  });
  afterEach(async () => {
    await Promise.all(backends.splice(0).map((backend) => backend.close()));
    await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
    await operator.ask('DELETE', `/v1/kv/${PREFIX}?recurse`);
  });

  function connect(options: ConsulOptions = {}): Backend {
    const backend = consul({ hosts: endpoint, prefix: PREFIX, ...options });
    backends.push(backend);
    return backend;
  }

  function open(options: ConsulOptions = {}): Promise<Session> {
    return connect(options).open(TTL_MS, signal);
  }

  async function behindProxy(): Promise<{ readonly proxy: HttpProxy; readonly session: Session }> {
    const proxy = await HttpProxy.start(endpoint);
    proxies.push(proxy);
    return { proxy, session: await open({ hosts: proxy.endpoint, requestTimeoutMs: 400 }) };
  }

  function entries(queue = 'jobs'): Promise<readonly string[]> {
    return operator.keysUnder(`${PREFIX}queues/${queue}/`);
  }

  it('does not add an entry when the enqueue request arrives after the request to remove the entry', async () => {
    const { proxy, session } = await behindProxy();
    proxy.hold(isLock);
    const spec = specOf();
    const refusal = await session.enqueue(spec).catch((error: unknown) => error);
    expect(isQueueLockError(refusal, 'UNAVAILABLE')).to.equal(true);
    expect(await session.remove(spec.queue, spec.id)).to.equal(false);
    expect(await proxy.release()).to.equal(1);
    expect(await entries()).to.deep.equal([]);
    const next = await session.enqueue(specOf());
    expect(next.turn.admitted).to.equal(true);
  });

  it('does not add a removed entry again when its enqueue request arrives late', async () => {
    const { proxy, session } = await behindProxy();
    proxy.resetNext(isLock);
    const spec = specOf();
    const placed = await session.enqueue(spec).catch(() => session.enqueue(spec));
    expect(placed.turn.admitted).to.equal(true);
    expect(await session.remove(spec.queue, spec.id)).to.equal(true);
    expect(await proxy.release()).to.equal(1);
    expect(await entries()).to.deep.equal([]);
  });

  it('removes an entry when the response to its enqueue was lost', async () => {
    const { proxy, session } = await behindProxy();
    proxy.loseReplies(isLock);
    const spec = specOf();
    await session.enqueue(spec).catch(() => undefined);
    expect(await entries()).to.have.length(1);
    expect(await session.remove(spec.queue, spec.id)).to.equal(true);
    expect(await entries()).to.deep.equal([]);
  });

  it('returns the same position when an enqueue is repeated after its response was lost', async () => {
    const { proxy, session } = await behindProxy();
    proxy.loseReplies(isLock);
    const spec = specOf();
    await session.enqueue(spec).catch(() => undefined);
    proxy.loseReplies(() => false);
    const placement = await session.enqueue(spec);
    expect(placement.turn.admitted).to.equal(true);
    expect(await entries()).to.deep.equal([placement.key]);
  });

  it('adds another entry after it has removed an entry whose enqueue was still in flight', async () => {
    const { proxy, session } = await behindProxy();
    const [lost, kept] = [specOf({ queue: 'lost' }), specOf({ queue: 'kept' })];
    proxy.hold((request) => isLock(request) && request.body.includes('/queues/lost/'));
    await session.enqueue(lost).catch(() => undefined);
    const [removed, placement] = await Promise.all([session.remove('lost', lost.id), session.enqueue(kept)]);
    expect(removed).to.equal(false);
    expect(await entries('kept')).to.deep.equal([placement.key]);
  });

  it('gives all entries of one call one order number, different from those of other calls', async () => {
    const sessions = await Promise.all([open(), open(), open()]);
    const queues = ['a', 'b', 'c'];
    const calls = await Promise.all(
      sessions.map((session, at) => {
        const named = at % 2 === 0 ? queues : queues.toReversed();
        return session.enqueueAll!(named.map((queue) => specOf({ queue })));
      }),
    );
    for (const placements of calls) expect(new Set(placements.map(({ order }) => order)).size).to.equal(1);
    expect(new Set(calls.map(([first]) => first?.order)).size).to.equal(3);
  });

  it('enters up to 60 queues in one call, and gives all entries the same order number', async () => {
    const session = await open();
    const specs = Array.from({ length: 60 }, (_, at) => specOf({ queue: `many-${at}` }));
    const placements = await session.enqueueAll!(specs);
    expect(new Set(placements.map(({ order }) => order)).size).to.equal(1);
    expect(placements.every(({ turn }) => turn.admitted)).to.equal(true);
    const tooMany = session.enqueueAll!([...specs, specOf()]).catch((error: unknown) => error);
    expect(await tooMany).to.have.property('code', 'INVALID_ARGUMENT');
  });

  it("needs one request to enqueue, and none between the predecessor's release and the grant", async () => {
    const proxy = await HttpProxy.start(endpoint);
    proxies.push(proxy);
    const [holder, waiter] = [await open(), await open({ hosts: proxy.endpoint })];
    const held = specOf();
    await holder.enqueue(held);
    const before = proxy.passed.length;
    const placement = await waiter.enqueue(specOf());
    const granted = new Promise<void>((resolve) => {
      placement.turns$.subscribe(({ admitted }) => {
        if (admitted) resolve();
      });
    });
    const isWatched = async (): Promise<void> => {
      const waits = proxy.passed.slice(before).filter(({ path }) => path.includes('index='));
      if (waits.length < 2) throw new Error(`${waits.length} queries`);
    };
    await until(isWatched, { what: 'the waiter watches its own entry and the one ahead', withinMs: 5_000 });
    const waiting = proxy.passed.length;
    await holder.remove('jobs', held.id);
    await granted;
    expect(proxy.passed.slice(waiting), 'between the release and the grant').to.deep.equal([]);
    expect(waiting - before, 'one transaction, and two queries that wait').to.equal(3);
  });

  it('notifies only one waiter of a release', async () => {
    const proxy = await HttpProxy.start(endpoint);
    proxies.push(proxy);
    const holder = await open();
    const held = specOf();
    await holder.enqueue(held);
    const waiters = await Promise.all(
      Array.from({ length: 5 }, async () => (await open({ hosts: proxy.endpoint })).enqueue(specOf())),
    );
    const order = waiters.toSorted((a, b) => Number(a.order - b.order));
    const admitted: bigint[] = [];
    for (const placement of waiters)
      placement.turns$.subscribe((turn) => {
        if (turn.admitted) admitted.push(placement.order);
      });
    const queries = (): number => proxy.passed.filter(({ path }) => path.includes('index=')).length;
    const isWatched = async (): Promise<void> => {
      if (queries() < 2 * waiters.length) throw new Error(`${queries()} queries`);
    };
    await until(isWatched, { what: 'all waiters watch', withinMs: 5_000 });
    const before = proxy.passed.length;
    await holder.remove('jobs', held.id);
    const isGranted = async (): Promise<void> => {
      if (admitted.length === 0) throw new Error('not yet');
    };
    await until(isGranted, { what: 'a waiter is granted', withinMs: 5_000 });
    expect(admitted).to.deep.equal([order[0]?.order]);
    expect(proxy.passed.slice(before)).to.deep.equal([]);
  });

  it('keeps an entry when a server that lags behind does not have it yet', async () => {
    const proxy = await HttpProxy.start(endpoint);
    proxies.push(proxy);
    const [holder, waiter] = [await open(), await open({ hosts: proxy.endpoint })];
    const held = specOf();
    const { key } = await holder.enqueue(held);
    let misled = 0;
    proxy.lagBehind(({ path }) => {
      const isMisled = misled < 3 && path.includes(key) && path.includes('index=');
      if (isMisled) misled += 1;
      return isMisled;
    });
    const placement = await waiter.enqueue(specOf());
    let isAdmitted = false;
    const granted = new Promise<void>((resolve) => {
      placement.turns$.subscribe(({ admitted }) => {
        isAdmitted ||= admitted;
        if (admitted) resolve();
      });
    });
    const isMisled = async (): Promise<void> => {
      const reads = proxy.passed.filter(({ path }) => path.includes(key) && path.includes('consistent'));
      if (misled < 3 || reads.length < 3) throw new Error(`misled ${misled} times`);
    };
    await until(isMisled, { what: 'the waiter reads again with a consistent read', withinMs: 10_000 });
    expect(isAdmitted).to.equal(false);
    await holder.remove('jobs', held.id);
    await granted;
  });

  it('belongs to the configured node of the catalog, and is lost when an operator removes that node', async () => {
    const node = { Node: 'queuelock-test', Address: '127.0.0.1' };
    await operator.ask('PUT', '/v1/catalog/register', JSON.stringify(node));
    const client = createLockClient(connect({ node: node.Node }), { ttlMs: TTL_MS });
    const ownership = await client.acquire('jobs');
    const lost = new Promise((resolve) => {
      ownership.signal.addEventListener('abort', resolve);
    });
    await operator.ask('PUT', '/v1/catalog/deregister', JSON.stringify({ Node: node.Node }));
    await lost;
    expect(ownership.held).to.equal(false);
    await client.close();
  });

  it('waits behind a key that another program has put into a queue, and shows it as foreign', async () => {
    await operator.ask('PUT', `/v1/kv/${PREFIX}queues/jobs/mine`, 'by hand');
    const backend = connect();
    const session = await backend.open(TTL_MS, signal);
    const placement = await session.enqueue(specOf());
    expect(placement.turn.admitted).to.equal(false);
    const granted = new Promise<void>((resolve) => {
      placement.turns$.subscribe((turn) => {
        if (turn.admitted) resolve();
      });
    });
    const [foreign] = await new Promise<readonly { readonly foreign?: string; readonly value: string }[]>(
      (resolve, reject) => {
        backend.observe('jobs').subscribe({ next: resolve, error: reject });
      },
    );
    expect(foreign).to.include({ foreign: 'without-lease', value: 'by hand' });
    await operator.remove(`${PREFIX}queues/jobs/mine`);
    await granted;
  });

  it('ends no earlier than two TTLs after its last renewal, since the heartbeat proof relies on that time', async () => {
    const sentAt = performance.now();
    const session = await connect({ minTtlMs: 100 }).open(1_000, signal);
    const placement = await session.enqueue(specOf());
    const isRemoved = async (): Promise<void> => {
      if ((await entries()).includes(placement.key)) throw new Error('still there');
    };
    await until(isRemoved, { what: 'the entry goes with its session', withinMs: 20_000 });
    expect(performance.now() - sentAt).to.be.at.least(2_000);
  });

  it('has no health check that could end it', async () => {
    const session = await open();
    const [info] = (await operator.ask('GET', `/v1/session/info/${session.id}`)) as readonly object[];
    expect(info).to.deep.include({ NodeChecks: [], LockDelay: 0, Behavior: 'delete' });
  });

  it('leaves no session and no key in the store when the client is closed', async () => {
    const client = createLockClient(connect(), { ttlMs: TTL_MS });
    const ownership = await client.acquire('jobs');
    expect(ownership.key).to.match(/^entries\/queues\/jobs\/[0-9a-f]{32}$/);
    await client.close();
    expect(await operator.keysUnder(PREFIX)).to.deep.equal([]);
  });
});
