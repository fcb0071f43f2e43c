import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { Etcd3 } from 'etcd3';
import { sharedEtcd, type EtcdService } from '@queuelock/harness/services';
import { Clients, eventually, freshQueue, newSpec } from './clients.ts';
import { Operator } from './operator.ts';

/**
 * Imitates `TryLock` of Go's clients from 3.5 on. It creates its key, reads which key of the queue was created first, and deletes its own key unless
 * it is that key.
 */
class Visitor {
  readonly #client: Etcd3;

  constructor(endpoint: string) {
    this.#client = new Etcd3({ hosts: endpoint });
  }

  /** Creates a lease, and returns the key in the queue that a Go session with this lease uses for all its calls of `TryLock`. */
  async keyIn(queue: string): Promise<{ key: Buffer; lease: string }> {
    const { ID: lease } = await this.#client.leaseClient.leaseGrant({ TTL: 30 });
    return { key: Buffer.from(`${queue}/${BigInt(lease).toString(16)}`), lease };
  }

  /** Creates the given key in the queue. Resolves with whether no other key of the queue is ahead of it. */
  async enter(queue: string, { key, lease }: { key: Buffer; lease: string }): Promise<boolean> {
    const { header, responses } = await this.#client.kv.txn({
      compare: [{ target: 'Create', result: 'Equal', create_revision: '0', key }],
      success: [{ request_put: { key, lease } }, { request_range: firstOf(queue) }],
      failure: [{ request_range: { key } }, { request_range: firstOf(queue) }],
    });
    const owner = responses[1]?.response_range.kvs[0]?.create_revision;
    return owner === undefined || owner === header.revision;
  }

  async leave({ key }: { key: Buffer }): Promise<void> {
    await this.#client.kv.deleteRange({ key });
  }

  close(): void {
    this.#client.close();
  }
}

function firstOf(queue: string): object {
  const [key, range_end] = [Buffer.from(`${queue}/`), Buffer.from(`${queue}0`)];
  return { key, range_end, sort_target: 'Create', sort_order: 'Ascend', limit: 1 };
}

describe('Go clients in an etcd queue', () => {
  let server: EtcdService;
  let operator: Operator;
  let visitor: Visitor;
  let queue: string;
  const clients = new Clients();

  before(async () => {
    server = await sharedEtcd("Go's clients next to @queuelock/etcd");
    operator = new Operator(server.endpoint);
    visitor = new Visitor(server.endpoint);
  });
  after(() => {
    operator.close();
    visitor.close();
  });
  beforeEach(() => {
    queue = freshQueue();
  });
  afterEach(() => clients.close());

  it('do not delay a waiter when a failed TryLock creates and deletes a key ahead of it', async () => {
    const session = await clients.session({ hosts: server.endpoint });
    const [holder, waiter] = [newSpec(queue), newSpec(queue)];
    await session.enqueue(holder);
    const key = await visitor.keyIn(queue);
    expect(await visitor.enter(queue, key)).to.equal(false);
    const placement = await session.enqueue(waiter);
    expect(placement.turn).to.deep.equal({ admitted: false, ahead: 2 });
    const turns = clients.follow(placement);
    await visitor.leave(key);
    await eventually('the waiter has looked again', () => turns.turn?.ahead === 1);
    // Creates the key of the Go client again. It is now behind the waiter.
    expect(await visitor.enter(queue, key)).to.equal(false);
    safely(() => expect(turns.turn?.admitted).to.equal(false));
    await session.remove(queue, holder.id);
    await turns.untilAdmitted();
    await visitor.leave(key);
  });

  it('never hold at the same time as a client of queuelock', async () => {
    const session = await clients.session({ hosts: server.endpoint });
    const key = await visitor.keyIn(queue);
    expect(await visitor.enter(queue, key)).to.equal(true);
    const waiter = newSpec(queue);
    const turns = clients.follow(await session.enqueue(waiter));
    expect(await session.tryEnqueue(newSpec(queue))).to.equal(undefined);
    await visitor.leave(key);
    await turns.untilAdmitted();
    expect(await visitor.enter(queue, key)).to.equal(false);
    await visitor.leave(key);
    await session.remove(queue, waiter.id);
    expect(await visitor.enter(queue, key)).to.equal(true);
    await visitor.leave(key);
  });

  it('read the value of an entry as soon as the entry exists', async () => {
    const session = await clients.session({ hosts: server.endpoint });
    const client = new Etcd3({ hosts: server.endpoint });
    const written: { value: string; version: string; lease: string }[] = [];
    const watcher = await client.watch().prefix(`${queue}/`).create();
    watcher.on('put', ({ value, version, lease }) =>
      written.push({ value: value.toString(), version, lease: BigInt(lease).toString(16) }),
    );
    const [all, one] = [newSpec(queue, { value: 'all' }), newSpec(queue, { value: 'one' })];
    await session.enqueueAll?.([all]);
    await session.enqueue(one);
    await session.remove(queue, all.id);
    await session.remove(queue, one.id);
    await session.tryEnqueue(newSpec(queue, { value: 'try' }));
    await eventually('all are seen', () => written.length === 3);
    expect(written).to.deep.equal(
      ['all', 'one', 'try'].map((value) => ({ value, version: '1', lease: session.id })),
    );
    await watcher.cancel();
    client.close();
  });

  it('observe each leader of an election with the value that its entry had while it waited', async () => {
    const session = await clients.session({ hosts: server.endpoint });
    const env = { ...process.env, ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: server.endpoint };
    const observer = spawn('etcdctl', ['elect', '-l', queue], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    observer.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const ended = once(observer, 'exit');
    const [first, second] = [newSpec(queue, { value: 'first' }), newSpec(queue, { value: 'second' })];
    const leaders = (await Promise.all([session.enqueue(first)])).concat(await session.enqueue(second));
    await eventually('the first leader is reported', () => printed === `${leaders[0]!.key}\nfirst\n`);
    await session.remove(queue, first.id);
    await eventually('the second leader is reported', () => printed.endsWith(`${leaders[1]!.key}\nsecond\n`));
    observer.kill('SIGINT');
    await ended;
  });
});
