import { expect } from 'chai';
import type { IEvent, IKeyValue } from '../src/protocol/messages.ts';
import { ObservedQueue } from '../src/queue/observed-queue.ts';

const directories = { entries: 'q/', marks: 'marks/' };
const nothing = { kvs: [] };

function row(
  end: string,
  { created, changed = created, value = '' }: { created: number; changed?: number; value?: string },
): IKeyValue {
  const revisions = { create_revision: String(created), mod_revision: String(changed), version: '1' };
  return { key: Buffer.from(`q/${end}`), value: Buffer.from(value), lease: '7', ...revisions };
}

function event(type: IEvent['type'], kv: IKeyValue): IEvent {
  return { type, kv, prev_kv: kv };
}

function ends(queue: ObservedQueue): string[] {
  return queue.entries().map(({ key, value }) => `${key.slice(2)}=${value}`);
}

describe('an observed etcd queue', () => {
  let queue: ObservedQueue;
  beforeEach(() => {
    const kvs = [
      row('a', { created: 3, value: '1' }),
      row('nested/x', { created: 4 }),
      row('b', { created: 5 }),
    ];
    queue = new ObservedQueue(directories, { revision: '10', entries: { kvs }, marks: nothing });
  });

  it('marks keys that no lock client created, with or without a lease', () => {
    const kvs = [
      row('7-1', { created: 3 }),
      row('x', { created: 4 }),
      { ...row('y', { created: 5 }), lease: '0' },
    ];
    const seen = new ObservedQueue(directories, { revision: '10', entries: { kvs }, marks: nothing });
    expect(seen.entries().map(({ foreign }) => foreign)).to.deep.equal([
      undefined,
      'with-lease',
      'without-lease',
    ]);
  });

  it('contains no keys of nested names, and is reported even when it is empty', () => {
    expect(queue.apply([])).to.equal(true);
    expect(ends(queue)).to.deep.equal(['a=1', 'b=']);
    const empty = new ObservedQueue(directories, { revision: '10', entries: nothing, marks: nothing });
    expect(empty.apply([])).to.equal(true);
    expect(queue.apply([])).to.equal(false);
  });

  it('sorts keys by their creation when it applies events that are newer than its read', () => {
    queue.apply([
      event('Put', row('c', { created: 11 })),
      event('Put', row('a', { created: 3, changed: 12, value: '2' })),
      event('Delete', row('b', { created: 0, changed: 13 })),
    ]);
    expect(ends(queue)).to.deep.equal(['a=2', 'c=']);
  });

  it('moves a key that was created again to the end of the queue', () => {
    queue.apply([
      event('Delete', row('a', { created: 0, changed: 11 })),
      event('Put', row('a', { created: 12 })),
    ]);
    expect(ends(queue)).to.deep.equal(['b=', 'a=']);
  });

  it('moves a key that was created again to its end, even if the deletion event was lost', () => {
    queue.apply([event('Put', row('a', { created: 12, value: 'again' }))]);
    expect(ends(queue)).to.deep.equal(['b=', 'a=again']);
    expect(queue.entries().map(({ order }) => order)).to.deep.equal([5n, 12n]);
  });

  it('ignores events that are older than the read of the queue, and events of nested names', () => {
    queue.apply([]);
    const old = event('Delete', row('a', { created: 0, changed: 10 }));
    const nested = event('Put', row('nested/y', { created: 12 }));
    expect(queue.apply([old, nested])).to.equal(false);
    expect(ends(queue)).to.deep.equal(['a=1', 'b=']);
  });

  it('shows an entry as shared once it has a mark', () => {
    queue.apply([]);
    const mark = { ...row('a', { created: 11 }), key: Buffer.from('marks/a') };
    const nested = { ...mark, key: Buffer.from('marks/nested/x') };
    expect(queue.apply([event('Put', nested)])).to.equal(false);
    expect(queue.apply([event('Put', mark)])).to.equal(true);
    expect(queue.entries().map(({ shared }) => shared)).to.deep.equal([true, false]);
    expect(ends(queue)).to.deep.equal(['a=1', 'b=']);
    const removed = { created: 0, changed: 12 };
    queue.apply([event('Delete', row('a', removed)), event('Delete', { ...mark, mod_revision: '12' })]);
    expect(ends(queue)).to.deep.equal(['b=']);
  });

  it('shows entries as shared if the read of the queue has found marks for them', () => {
    const kvs = [row('a', { created: 3 }), row('b', { created: 4 })];
    const marks = { kvs: [{ ...row('b', { created: 5 }), key: Buffer.from('marks/b') }] };
    queue = new ObservedQueue(directories, { revision: '10', entries: { kvs }, marks });
    expect(queue.entries().map(({ shared }) => shared)).to.deep.equal([false, true]);
  });
});
