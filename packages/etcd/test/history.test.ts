import type { Backend, EntrySpec, StoredHistory } from '@queuelock/core/backend';
import { etcd } from '@queuelock/etcd';
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessService } from '@queuelock/harness/services/service';
import { Operator } from './operator.ts';
import { startOwnServer } from './own-server.ts';

const MANY = 2_500;

describe('a backend on an etcd server', function () {
  this.timeout(60_000);
  let server: ProcessService;
  let operator: Operator;
  let backend: Backend;

  before(async () => {
    server = await startOwnServer();
    operator = new Operator(server.endpoint);
    backend = etcd({ hosts: server.endpoint });
  });
  after(async () => {
    await backend.close();
    operator.close();
    await server.stop();
  });

  const history = (queue: string): Promise<StoredHistory> =>
    backend.history!(queue, new AbortController().signal);
  const reported = ({ changes }: StoredHistory): string[] =>
    changes.map(({ kind, entry }) => `${kind} ${entry.value}`);

  it('returns an empty history from an empty store', async () => {
    expect(await history('q')).to.deep.equal({ before: [], changes: [], gaps: [] });
  });

  it('returns a complete history while other clients keep writing to the queue and to other queues', async () => {
    const session = await backend.open(10_000, new AbortController().signal);
    const spec = (queue: string): EntrySpec => {
      return { queue, id: randomBytes(16).toString('hex'), shared: false, limit: 1, value: queue };
    };
    for (const queue of ['elsewhere', 'busy']) {
      const wanted = new AbortController();
      const writes = (async (): Promise<void> => {
        while (!wanted.signal.aborted) {
          await session.enqueue(spec(queue));
          await pause(20);
        }
      })();
      try {
        await session.enqueue(spec('busy'));
        expect(reported(await history('busy'))).to.include('joined busy');
      } finally {
        wanted.abort();
        await writes;
      }
    }
    await session.close();
  }).timeout(10_000);

  it('returns every enqueue, change and removal of a queue in order, also of removed entries', async () => {
    const session = await backend.open(10_000, new AbortController().signal);
    const spec = (value: string): EntrySpec => ({
      queue: 'q',
      id: randomBytes(16).toString('hex'),
      shared: false,
      limit: 1,
      value,
    });
    const [a, b] = [spec('a'), spec('b')];
    const { order } = await session.enqueue(a);
    await session.enqueue(b);
    await session.enqueue({ ...spec('nested'), queue: 'q/r' });
    await session.update('q', b.id, 'b2');
    await session.remove('q', a.id);
    const all = await history('q');
    expect(reported(all)).to.deep.equal(['joined a', 'joined b', 'changed b2', 'left a']);
    expect(all.changes[0]).to.include({ revision: order });
    expect(all.gaps).to.deep.equal([]);
    await operator.compact();
    await session.remove('q', b.id);
    const rest = await history('q');
    expect(rest.before.map(({ value }) => value)).to.deep.equal(['b2']);
    expect(reported(rest)).to.deep.equal(['left b2']);
    expect(rest.gaps[0]).to.match(/compacted at revision \d+/);
    await session.close();
  });

  it('rejects a read of the history with the abort reason when its caller aborts', async () => {
    const removed = new AbortController();
    const requested = backend.history!('q', removed.signal).catch((error: unknown) => error);
    removed.abort(new Error('gone'));
    expect(await requested).to.have.property('message', 'gone');
  });

  it('lists all queues when one read does not return all keys', async () => {
    const lease = operator.client.lease(60, { autoKeepAlive: false });
    const id = await lease.grant();
    const hex = BigInt(id).toString(16);
    for (let from = 0; from < MANY; from += 100) {
      const names = Array.from({ length: 100 }, (_, at) => `many/${from + at}`);
      const puts = names.map((name) => operator.client.put(`${name}/${hex}`).lease(id));
      await operator.client
        .if('absent', 'Create', '==', 0)
        .then(...puts)
        .commit();
    }
    await operator.put('many/config', 'x');
    const listed = await new Promise<number>((resolve, reject) => {
      const watch = backend.queues!('many/').subscribe({
        next: (queues) => {
          setImmediate(() => {
            watch.unsubscribe();
          });
          resolve(queues.length);
        },
        error: reject,
      });
    });
    expect(listed).to.equal(MANY);
    await lease.revoke();
  });
});
