import { expect } from 'chai';
import { Cell } from '../cell.ts';
import { fact, type Fact } from '../fact.ts';
import { safely } from '../safety.ts';
import type { Stage } from '../stage.ts';
import { expectNothingLeft } from './line.ts';

/**
 * Makes a fact about a register of the test's queue, with two connections that use it. Empties the register
 * afterwards.
 */
function registerFact(title: string, play: (stage: Stage, own: Cell, other: Cell) => Promise<void>): Fact {
  const played = async (stage: Stage): Promise<void> => {
    const own = new Cell(stage, await stage.connect());
    await play(stage, own, new Cell(stage, await stage.connect()));
    await own.put(undefined);
  };
  return fact(title, played, ['registers']);
}

/** Facts about registers: small texts beside a queue, which are stored even while the queue is empty. */
export const registerFacts: readonly Fact[] = [
  registerFact(
    'a register is empty first, and can be written only with its present version',
    async (_stage, own, other) => {
      expect(await own.read()).to.equal(undefined);
      expect(await own.write('first', undefined)).to.equal(true);
      const first = await other.read();
      expect(first?.text).to.equal('first');
      expect(await other.write('too late', undefined)).to.equal(false);
      expect(await other.write('second', first)).to.equal(true);
      expect(await own.write('too late', first)).to.equal(false);
      expect(await own.text()).to.equal('second');
    },
  ),

  registerFact(
    'a register has another version after every write, also of the same text',
    async (_stage, own, other) => {
      const versions: (string | undefined)[] = [];
      for (const text of ['same', 'same', undefined, 'same']) {
        const before = await own.read();
        expect(await own.write(text, before)).to.equal(true);
        if (before) expect(await other.write('by an older version', before)).to.equal(false);
        versions.push((await other.read())?.version);
      }
      expect(new Set(versions).size).to.equal(4);
    },
  ),

  registerFact('a register that was emptied behaves like one never written', async (_stage, own, other) => {
    await own.put('something');
    const full = await own.read();
    expect(await own.write(undefined, undefined), 'emptied by who thinks that it is empty').to.equal(false);
    expect(await own.write(undefined, full)).to.equal(true);
    expect(await other.read()).to.equal(undefined);
    expect(await other.write('again', full)).to.equal(false);
    expect(await other.write(undefined, undefined), 'emptied while it is empty').to.equal(true);
    expect(await other.write('', undefined), 'the empty text').to.equal(true);
    expect(await own.text()).to.equal('');
  }),

  registerFact('of several concurrent writers exactly one succeeds', async (stage, own, other) => {
    const cells = [own, other, new Cell(stage, await stage.connect())];
    for (let round = 0; round < 5; round += 1) {
      const before = await own.read();
      const writes = [...cells, ...cells].map((cell, who) => cell.write(`${round} by ${who}`, before));
      const responses = await Promise.all(writes);
      safely(() => expect(responses.filter(Boolean), `round ${round}`).to.have.length(1));
      expect(await other.text()).to.equal(`${round} by ${responses.indexOf(true)}`);
    }
  }),

  registerFact('an observer sees a register and every change of it', async (_stage, own, other) => {
    const early = other.watch();
    await early.until(undefined);
    for (const text of ['one', 'two', undefined, 'three']) {
      await own.put(text);
      await early.until(text);
    }
    const late = own.watch();
    await late.until('three');
    expect(late.seen[0]?.text, 'first').to.equal('three');
    expect(late.seen[0]?.version).to.equal((await own.read())?.version);
    early.stop();
    await other.put('four');
    await late.until('four');
    expect(early.seen.at(-1)?.text, 'after it stopped').to.equal('three');
    late.stop();
  }),

  fact(
    'a register outlives the sessions and the connection that wrote it',
    async (stage) => {
      const client = await stage.client();
      const contender = await client.enter();
      await new Cell(stage, client.backend).put('stays');
      await contender.leave();
      await client.close();
      await stage.disconnect(client.backend);
      await expectNothingLeft(stage, stage.queue);
      const later = new Cell(stage, await stage.connect());
      expect(await later.text()).to.equal('stays');
      await later.put(undefined);
    },
    ['registers'],
  ),

  fact(
    'registers of different kinds are separate, as are registers of queues whose names contain one another',
    async (stage) => {
      const backend = await stage.connect();
      const { queue } = stage;
      const nested = [
        `${queue}/b`,
        `${queue}/b/c`,
        `${queue}/limit`,
        `${queue}/b/`,
        `${queue}/`,
        `/${queue}`,
      ];
      const names = [queue, ...nested, `${queue}%2Fb`, `${queue}${'/é'.repeat(50)}`];
      const cells = names.flatMap((name) =>
        ['b', 'limit', 'x'.repeat(16)].map((kind) => new Cell(stage, backend, { queue: name, kind })),
      );
      const watches = cells.map((cell) => cell.watch());
      for (const [place, cell] of cells.entries())
        expect(await cell.write(`${place}`, undefined)).to.equal(true);
      for (const [place, watch] of watches.entries()) await watch.until(`${place}`);
      for (const watch of watches) watch.stop();
      for (const [place, cell] of cells.entries()) expect(await cell.text()).to.equal(`${place}`);
      for (const cell of cells) await cell.put(undefined);
    },
    ['registers'],
  ),

  registerFact('a register returns 4,096 bytes unchanged', async (_stage, own, other) => {
    const text = '"\\ \u0000\n€'.padEnd(4_096 - 2, '~');
    expect(Buffer.byteLength(text)).to.equal(4_096);
    await own.put(text);
    expect(await other.text()).to.equal(text);
    const watch = other.watch();
    await watch.until(text);
    watch.stop();
  }),

  registerFact('a register of a queue is not an entry of it', async (stage, own) => {
    const queueWatch = await stage.watch();
    await own.put('remembered');
    expect((await stage.harness.entries?.(stage.queue)) ?? []).to.deep.equal([]);
    const client = await stage.client();
    const contender = await client.enter();
    expect(contender.placement.turn.admitted).to.equal(true);
    await queueWatch.untilKeys(contender.placement.key);
    await contender.leave();
    expect(await own.text()).to.equal('remembered');
    for (const snapshot of queueWatch.seen) expect(snapshot.length).to.be.at.most(1);
  }),

  registerFact(
    'a register is written by a client whose session has ended, and the queue beside it stays as it is',
    async (stage, own, other) => {
      const holder = await (await stage.client()).enter();
      const waiter = await (await stage.client()).enter();
      const ended = await stage.client();
      await ended.close();
      const cell = new Cell(stage, ended.backend);
      for (const text of ['one', 'two', 'three']) await cell.put(text);
      await stage.settle();
      expect([holder.admitted, waiter.admitted]).to.deep.equal([true, false]);
      await holder.leave();
      await waiter.untilAdmitted();
      expect(await other.text()).to.equal('three');
      await own.put('four');
      await waiter.leave();
    },
  ),
];
