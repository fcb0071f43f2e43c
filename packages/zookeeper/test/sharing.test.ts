import type { StoredEntry, Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { readerOf } from '../src/queue/entries.ts';
import { schemeOf } from '../src/queue/naming.ts';
import { Bench, admitted, ending, eventually, newQueue, outcome, newSpec } from './bench.ts';
import { OpCode, requestsIn } from './frames.ts';
import { losing } from './lose-reply.ts';
import { asOperator } from './operator.ts';

describe('a downgrade of an entry in ZooKeeper', () => {
  const bench = new Bench();
  let server: string;
  let proxy: TcpProxy;
  let queue: string;
  let session: Session;
  let other: Session;

  beforeEach(async () => {
    server = (await sharedZooKeeper('sharing of @queuelock/zookeeper')).endpoint;
    proxy = bench.keep(await startProxy(server), (started) => {
      started.refuse();
      started.cut();
    });
    queue = newQueue();
    session = await bench.session(proxy.endpoint);
    other = await bench.session(server);
  });
  afterEach(() => bench.clear());

  async function entries(): Promise<readonly string[]> {
    return (await asOperator(server, (zk) => zk.children(`/${queue}`))) ?? [];
  }

  it('keeps the position, and admits the readers behind it', async () => {
    const holder = newSpec(queue);
    const held = await session.enqueue(holder);
    const [near, writer, far] = [
      newSpec(queue, { shared: true }),
      newSpec(queue),
      newSpec(queue, { shared: true }),
    ];
    const turn = admitted(await other.enqueue(near));
    const next = await other.enqueue(writer);
    const last = await other.enqueue(far);
    let ended: string | undefined;
    const end = ending(held).then((code) => (ended = code));
    expect(await session.share!(queue, holder.id, 'reads')).to.equal(true);
    await turn;
    const writes = admitted(next);
    const reads = admitted(last);
    expect(await session.update(queue, holder.id, 'still reads')).to.equal(true);
    expect(await entries())
      .to.include(readerOf(held.key.split('/')[2]!, held.token, schemeOf('curator')))
      .and.have.length(4);
    expect(ended).to.equal(undefined);
    expect(await session.remove(queue, holder.id)).to.equal(true);
    await other.remove(queue, near.id);
    await writes;
    await other.remove(queue, writer.id);
    await reads;
    expect(await end).to.equal('ENTRY_LOST');
    expect(await entries()).to.have.length(1);
  });

  it('costs a create and a write in one packet, and then a delete', async () => {
    const holder = newSpec(queue);
    await session.enqueue(holder);
    const seen: number[] = [];
    proxy.onClientData = (chunk) => seen.push(...requestsIn(chunk));
    await session.share!(queue, holder.id, 'reads');
    expect(seen.filter((code) => code !== OpCode.ping)).to.deep.equal([
      OpCode.create,
      OpCode.setData,
      OpCode.delete,
    ]);
  });

  it('is never seen by observers as two entries, or as none', async () => {
    const snapshots: (readonly StoredEntry[])[] = [];
    const watching = bench
      .backend(server)
      .observe(queue)
      .subscribe((snapshot) => snapshots.push(snapshot));
    const holder = newSpec(queue, { value: 'writes' });
    await session.enqueue(holder);
    await eventually(() => snapshots.at(-1)?.length === 1);
    const from = snapshots.length - 1;
    await session.share!(queue, holder.id, 'reads');
    await eventually(() => snapshots.at(-1)?.[0]?.value === 'reads');
    const seen = snapshots
      .slice(from)
      .map((snapshot) => snapshot.map(({ shared, value }) => [shared, value]));
    expect(seen).to.deep.equal([[[false, 'writes']], [[true, 'reads']]]);
    expect(new Set(snapshots.slice(from).map(([entry]) => entry?.order)).size).to.equal(1);
    watching.unsubscribe();
  });

  it('makes a waiter wait for writers only, and so admits it beside a reader', async () => {
    const [reader, waiting] = [newSpec(queue, { shared: true }), newSpec(queue)];
    await other.enqueue(reader);
    const turn = admitted(await session.enqueue(waiting));
    expect(await session.share!(queue, waiting.id, 'reads')).to.equal(true);
    await turn;
  });

  it('has no further effect when it is repeated', async () => {
    const holder = newSpec(queue);
    await session.enqueue(holder);
    expect(await session.share!(queue, holder.id, 'once')).to.equal(true);
    expect(await session.share!(queue, holder.id, 'twice')).to.equal(true);
    const [name, ...others] = await entries();
    expect(others).to.deep.equal([]);
    expect(await asOperator(server, (zk) => zk.read(`/${queue}/${name!}`))).to.include({ text: 'twice' });
    expect((await session.enqueue({ ...holder, shared: true })).key).to.equal(`/${queue}/${name!}`);
  });

  it('ends in ENTRY_LOST when an operator removes the entry of the reader', async () => {
    const holder = newSpec(queue);
    const end = ending(await session.enqueue(holder));
    await session.share!(queue, holder.id, '');
    const [name] = await entries();
    await asOperator(server, (zk) => zk.delete(`/${queue}/${name!}`));
    expect(await end).to.equal('ENTRY_LOST');
    expect(await session.share!(queue, holder.id, '')).to.equal(false);
    expect(await entries()).to.deep.equal([]);
  });

  it('does not restore an entry that an operator removed before', async () => {
    const holder = newSpec(queue);
    const { key } = await session.enqueue(holder);
    await asOperator(server, (zk) => zk.delete(key));
    expect(await session.share!(queue, holder.id, '')).to.equal(false);
    expect(await entries()).to.deep.equal([]);
    expect(await session.share!(queue, newSpec(queue).id, '')).to.equal(false);
  });

  for (const [what, opCode] of [
    ['the create', OpCode.create],
    ['the delete', OpCode.delete],
  ] as const) {
    it(`succeeds when it is repeated after the reply to one request (${what}) was lost`, async () => {
      const holder = newSpec(queue);
      const held = await session.enqueue(holder);
      let ended: string | undefined;
      void ending(held).then((code) => (ended = code));
      const turn = admitted(await other.enqueue(newSpec(queue, { shared: true })));
      const share = () => session.share!(queue, holder.id, 'reads');
      expect(await losing(proxy, opCode, share)).to.equal('UNAVAILABLE');
      expect(await share()).to.equal(true);
      await turn;
      expect(await entries()).to.have.length(2);
      expect(ended).to.equal(undefined);
      expect(await session.remove(queue, holder.id)).to.equal(true);
      expect(await entries()).to.have.length(1);
    });

    it(`leaves no node when the entry is removed after the reply to one request (${what}) was lost`, async () => {
      const holder = newSpec(queue);
      await session.enqueue(holder);
      const share = () => session.share!(queue, holder.id, 'reads');
      expect(await losing(proxy, opCode, share)).to.equal('UNAVAILABLE');
      expect(await session.remove(queue, holder.id)).to.equal(true);
      expect(await entries()).to.deep.equal([]);
    });
  }

  it('does not restore an entry that an operator removed after a lost reply', async () => {
    const holder = newSpec(queue);
    const { key } = await session.enqueue(holder);
    const share = () => session.share!(queue, holder.id, 'reads');
    expect(await losing(proxy, OpCode.create, share)).to.equal('UNAVAILABLE');
    await asOperator(server, (zk) => zk.delete(key));
    expect(await outcome(session.share!(queue, holder.id, 'reads'))).to.equal('fine');
    expect(await session.share!(queue, holder.id, 'reads')).to.equal(false);
    expect(await entries()).to.deep.equal([]);
  });

  it('keeps the trace of the hold until the hold is released', async () => {
    const [holder, reader] = [newSpec(queue), newSpec(queue, { shared: true })];
    await session.enqueue(holder);
    expect(await session.traces!.leave(queue, holder.id)).to.deep.equal([]);
    await session.share!(queue, holder.id, '');
    await other.enqueue(reader);
    expect(await other.traces!.leave(queue, reader.id)).to.deep.equal([]);
    await session.remove(queue, holder.id);
    expect(await other.traces!.leave(queue, reader.id)).to.deep.equal([]);
    const traces = await asOperator(server, (zk) => zk.children(`/.queuelock/held/${queue}`));
    expect(traces).to.have.length(1);
  });
});
