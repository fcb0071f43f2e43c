import { safely } from '@queuelock/conformance';
import type { Placement, Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { sharedZooKeeper, zkFourLetter } from '@queuelock/harness/services';
import { readerOf } from '../src/queue/entries.ts';
import { schemeOf } from '../src/queue/naming.ts';
import { Bench, admitted, ending, eventually, newQueue, outcome, newSpec } from './bench.ts';
import { OpCode } from './frames.ts';
import { losing } from './lose-reply.ts';
import { asOperator } from './operator.ts';
import { TappedProcess } from './tapped-process.ts';

const UUID = '01234567-89ab-cdef-0123-456789abcdef';
const { create, delete: remove, exists, getChildren, getData } = OpCode;

describe('a hand-off in ZooKeeper', () => {
  const bench = new Bench();
  let server: string;
  let queue: string;
  let one: TappedProcess;
  let two: TappedProcess;

  beforeEach(async () => {
    server = (await sharedZooKeeper('hand-offs of @queuelock/zookeeper')).endpoint;
    queue = newQueue();
    [one, two] = [await TappedProcess.start(bench, server), await TappedProcess.start(bench, server)];
  });
  afterEach(() => bench.clear());

  /** Resolves when the server has watches on the nodes of all given entries. */
  const untilWatched = (...placements: readonly Placement[]): Promise<void> =>
    eventually(async () => {
      const watched = await zkFourLetter(server, 'wchp');
      return placements.every(({ key }) => watched.includes(`${key}\n`));
    });

  /** Returns an array to which each later status of the entry is added: whether the entry is admitted. */
  const turnsOf = (placement: Placement): boolean[] => {
    const turns: boolean[] = [];
    placement.turns$.subscribe({ next: (turn) => turns.push(turn.admitted), error: () => undefined });
    return turns;
  };

  it('costs one delete and one notification for the next waiter, without a read', async () => {
    const [holder, waiter] = [await one.open(), await two.open()];
    const held = newSpec(queue);
    const first = await holder.enqueue(held);
    const next = await waiter.enqueue(newSpec(queue));
    const turn = admitted(next);
    await untilWatched(first);
    one.reset();
    two.reset();
    await holder.remove(queue, held.id);
    await turn;
    expect(one.taken()).to.deep.equal({ requests: [remove], notices: 0 });
    expect(two.taken()).to.deep.equal({ requests: [], notices: 1 });
  });

  it('requires of the waiter a create, a list, and two reads before the wait', async () => {
    const [holder, waiter] = [await one.open(), await two.open()];
    const first = await holder.enqueue(newSpec(queue));
    two.reset();
    const next = await waiter.enqueue(newSpec(queue));
    void ending(next);
    await untilWatched(first, next);
    expect(two.taken().requests).to.deep.equal([create, getChildren, exists, getData]);
  });

  it('reaches each waiter of one process without a read', async () => {
    const sessions = [await one.open(), await one.open()];
    const specs = Array.from({ length: 8 }, () => newSpec(queue));
    const inLine: { placement: Placement; turn: Promise<void>; leave: () => Promise<boolean> }[] = [];
    for (const [at, spec] of specs.entries()) {
      const session = sessions[at % 2]!;
      const placement = await session.enqueue(spec);
      inLine.push({ placement, turn: admitted(placement), leave: () => session.remove(queue, spec.id) });
    }
    await untilWatched(...inLine.slice(0, -1).map(({ placement }) => placement));
    one.reset();
    for (const { turn, leave } of inLine) {
      await turn;
      await leave();
    }
    expect(one.taken().requests).to.deep.equal(specs.map(() => remove));
  });

  it('needs a list if the waiter once had two entries ahead and another process removed one', async () => {
    const [others, waiter] = [await one.open(), await two.open()];
    const [held, middle] = [newSpec(queue), newSpec(queue)];
    await others.enqueue(held);
    const second = await others.enqueue(middle);
    const turn = admitted(await waiter.enqueue(newSpec(queue)));
    await untilWatched(second);
    two.reset();
    await others.remove(queue, held.id);
    await others.remove(queue, middle.id);
    await turn;
    expect(two.taken().requests).to.deep.equal([getChildren]);
  });

  it('to a waiter for one of two permits needs no read', async () => {
    const [holders, waiter] = [await one.open(), await two.open()];
    const [far, near] = [newSpec(queue, { limit: 2 }), newSpec(queue, { limit: 2 })];
    const ahead = [await holders.enqueue(far), await holders.enqueue(near)];
    const turn = admitted(await waiter.enqueue(newSpec(queue, { limit: 2 })));
    await untilWatched(...ahead);
    two.reset();
    await holders.remove(queue, far.id);
    await turn;
    expect(two.taken().requests).to.deep.equal([]);
  });

  for (const [where, process] of [
    ['in the same process', () => one],
    ['in another process', () => two],
  ] as const) {
    for (const [how, leaves] of [
      ['is cancelled', (middle: Session, id: string) => middle.remove(queue, id)],
      ['loses its session', (middle: Session) => middle.close()],
    ] as const) {
      it(`does not reach the third entry when the second entry ${how}, and the third one is ${where}`, async () => {
        const [holder, middle, last] = [await one.open(), await one.open(), await process().open()];
        const [held, input] = [newSpec(queue), newSpec(queue)];
        await holder.enqueue(held);
        const waiting = await middle.enqueue(input);
        void ending(waiting);
        const end = await last.enqueue(newSpec(queue));
        const turns = turnsOf(end);
        await untilWatched(waiting, end);
        process().reset();
        await leaves(middle, input.id);
        await eventually(() => process().taken().requests.includes(getChildren));
        expect(await asOperator(server, (zk) => zk.children(`/${queue}`))).to.have.length(2);
        safely(() => expect(turns).to.not.include(true));
        await holder.remove(queue, held.id);
        await eventually(() => turns.includes(true));
      });
    }

    for (const [when, follows] of [
      ['while it is followed', 'before'],
      ['before it is followed', 'after'],
    ] as const) {
      it(`does not happen when the holder is converted to a reader (${when} by a waiter ${where})`, async () => {
        const [holder, waiter] = [await one.open(), await process().open()];
        const held = newSpec(queue);
        const first = await holder.enqueue(held);
        const next = await waiter.enqueue(newSpec(queue));
        const early = follows === 'before' ? turnsOf(next) : undefined;
        if (early) await untilWatched(first, next);
        process().reset();
        expect(await holder.share!(queue, held.id, 'reads')).to.equal(true);
        const turns = early ?? turnsOf(next);
        await eventually(() => process().taken().requests.includes(getChildren));
        await untilWatched({
          ...first,
          key: `/${queue}/${readerOf(nameOf(first), first.token, schemeOf('curator'))}`,
        });
        safely(() => expect(turns).to.not.include(true));
        await holder.remove(queue, held.id);
        await eventually(() => turns.includes(true));
      });
    }
  }

  it('does not happen when Curator converts a writer to a reader without a write to its node', async () => {
    const other = await TappedProcess.start(bench, server, { naming: 'curator-read-write' });
    const waiter = await other.open();
    await asOperator(server, async (zk) => {
      await zk.create(`/${queue}`, '', 'container');
      const writer = (await zk.create(`/${queue}/_c_${UUID}-__WRIT__`, '', 'ephemeral-sequential')).path!;
      const next = await waiter.enqueue(newSpec(queue));
      const turns = turnsOf(next);
      await untilWatched({ ...next, key: writer }, next);
      const reader = writer.replace('__WRIT__', '__READ__');
      await zk.create(reader, '', 'ephemeral');
      await zk.delete(writer);
      await untilWatched({ ...next, key: reader });
      safely(() => expect(turns).to.not.include(true));
      await zk.delete(reader);
      await eventually(() => turns.includes(true));
    });
  });

  it("needs a list if the holder's node was written, as in a conversion to a reader", async () => {
    const [holder, waiter] = [await one.open(), await two.open()];
    const held = newSpec(queue);
    const first = await holder.enqueue(held);
    const turn = admitted(await waiter.enqueue(newSpec(queue)));
    await untilWatched(first);
    await holder.update(queue, held.id, 'another value');
    await eventually(() => two.taken().requests.includes(getData));
    await untilWatched(first);
    await holder.remove(queue, held.id);
    await turn;
    expect(two.taken().requests).to.include(getChildren);
  });

  for (const isDown of [false, true]) {
    const how = isDown ? 'while the connection is down' : 'just before the hand-off';
    it(`does not admit a waiter whose entry an operator has removed (${how})`, async () => {
      const [holder, waiter] = [await one.open(), await two.open()];
      const first = await holder.enqueue(newSpec(queue));
      const next = await waiter.enqueue(newSpec(queue));
      const turns: boolean[] = [];
      const end = new Promise((resolve) => {
        next.turns$.subscribe({ next: (turn) => turns.push(turn.admitted), error: resolve });
      });
      await untilWatched(first, next);
      if (isDown) {
        two.proxy.refuse();
        two.proxy.cut();
      }
      await asOperator(server, (zk) => Promise.all([zk.delete(next.key), zk.delete(first.key)]));
      if (isDown) await two.proxy.accept();
      expect(await end).to.include({ code: 'ENTRY_LOST' });
      safely(() => expect(turns).to.not.include(true));
    });
  }

  it('happens even if the reply to the delete is lost', async () => {
    const [holder, waiter] = [await one.open(), await two.open()];
    const held = newSpec(queue);
    const first = await holder.enqueue(held);
    const turn = admitted(await waiter.enqueue(newSpec(queue)));
    await untilWatched(first);
    expect(await losing(one.proxy, remove, () => holder.remove(queue, held.id))).to.equal('UNAVAILABLE');
    await turn;
    expect(await outcome(holder.remove(queue, held.id))).to.equal('fine');
  });

  it('does not skip an entry of Curator between the holder and the waiter', async () => {
    const [holder, waiter] = [await one.open(), await one.open()];
    const held = newSpec(queue);
    await holder.enqueue(held);
    await asOperator(server, async (zk) => {
      const between = (await zk.create(`/${queue}/_c_${UUID}-lock-`, '', 'ephemeral-sequential')).path!;
      const next = await waiter.enqueue(newSpec(queue));
      const turns = turnsOf(next);
      await untilWatched(next, { ...next, key: between });
      await holder.remove(queue, held.id);
      expect(await zk.children(`/${queue}`)).to.have.length(2);
      safely(() => expect(turns).to.not.include(true));
      await zk.delete(between);
      await eventually(() => turns.includes(true));
    });
  });
});

function nameOf({ key }: Placement): string {
  return key.slice(key.lastIndexOf('/') + 1);
}
