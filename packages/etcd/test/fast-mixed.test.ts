import { expect } from 'chai';
import { safely } from '@queuelock/conformance';
import type { Session } from '@queuelock/core/backend';
import { codeOf, newSpec, type TurnLog } from './clients.ts';
import { FastBench, type QueuedEntry } from './fast-bench.ts';
import { holdInOrder } from './fast-crowd.ts';
import { mentions } from './late-request.ts';
import { loseReply } from './lost-reply.ts';

describe('entries of naming fast in an etcd queue with other entries', () => {
  const bench = new FastBench();
  let session: Session;
  let plain: Session;

  beforeEach(async () => {
    [session, plain] = [await bench.open(), await bench.open('go')];
    await bench.makeLong();
  });

  const admitted = (...turns: readonly TurnLog[]): boolean[] =>
    turns.map(({ turn }) => turn?.admitted === true);

  it('are granted in the order of the queue, together with entries of naming go', async () => {
    const positions: QueuedEntry[] = [];
    for (const by of [session, plain, session, session, plain, session])
      positions.push(await bench.enter(by));
    const turns = positions.map((position) => bench.follow(position));
    for (const [i, place] of positions.entries()) {
      await turns[i]!.untilAdmitted();
      safely(() => expect(admitted(...turns.slice(i + 1))).to.not.include(true));
      turns[i]!.stop();
      await bench.leave(place);
    }
    expect(await bench.keys()).to.deep.equal([]);
  });

  it('wait for an entry of naming go that is between two of them', async () => {
    const [first, between, last] = [
      await bench.enter(session),
      await bench.enter(plain),
      await bench.enter(session),
    ];
    expect(last.placement.turn).to.deep.equal({ admitted: false, ahead: 2 });
    const turns = bench.follow(last);
    await bench.follow(first).untilAdmitted();
    await bench.leave(first);
    await bench.follow(between).untilAdmitted();
    safely(() => expect(admitted(turns)).to.deep.equal([false]));
    await bench.leave(between);
    await turns.untilAdmitted();
  });

  it('wait for an entry whose client reaches the queue by another prefix and a shorter name', async () => {
    const { clients, server } = bench.at;
    const [prefix, name] = [bench.queue.slice(0, 2), bench.queue.slice(2)];
    const hosts = server.endpoint;
    const other = await clients.session({ hosts, prefix, naming: 'fast', heartbeatProof: 'verified' });
    const first = await bench.enter(session);
    const between = newSpec(name);
    expect((await other.enqueue(between)).turn.admitted).to.equal(false);
    const last = await bench.enter(session);
    expect(last.placement.turn).to.deep.equal({ admitted: false, ahead: 2 });
    const turns = bench.follow(last);
    await bench.leave(first);
    await other.remove(name, between.id);
    await turns.untilAdmitted();
  });

  // Names of keys as Go's clients create them, and names that sort before or after those of queuelock's entries.
  for (const name of ['694d805f7dad0506', '', '}', '\u007f', 'ü', '鎖']) {
    it(`wait for a key of another program, with the name ${JSON.stringify(name)}`, async () => {
      await bench.at.operator.put(`${bench.queue}/${name}`);
      const position = await bench.enter(session);
      expect(position.placement.turn).to.deep.equal({ admitted: false, ahead: 1 });
      const turns = bench.follow(position);
      await bench.at.operator.remove(`${bench.queue}/${name}`);
      await turns.untilAdmitted();
    });
  }

  it('do not wait for entries of a nested name', async () => {
    for (const nested of ['sub', '~sub']) {
      const below = newSpec(`${bench.queue}/${nested}`);
      await session.enqueue(below);
      await plain.enqueue(newSpec(below.queue));
      const position = await bench.enter(session);
      await bench.follow(position).untilAdmitted();
      await bench.leave(position);
    }
  });

  it('keep one key and one position when an enqueue is repeated after a lost reply', async () => {
    const [proxy] = bench.at.proxies;
    const far = await bench.open('fast', [proxy.endpoint]);
    const first = await bench.enter(session);
    const spec = newSpec(bench.queue);
    const lost = loseReply(proxy, mentions(spec.id));
    expect(await codeOf(far.enqueue(spec))).to.equal('UNAVAILABLE');
    await lost;
    const behind = await bench.enter(session);
    const placement = await far.enqueue(spec);
    expect(placement.turn).to.deep.equal({ admitted: false, ahead: 1 });
    const keys = [first.placement.key, placement.key, behind.placement.key];
    expect(await bench.keys()).to.deep.equal(keys);
    expect(await bench.tail()).to.equal(keys[2]);
    expect(await far.remove(bench.queue, spec.id)).to.equal(true);
  });

  it('leave no key when they are cancelled after a lost reply', async () => {
    const [proxy] = bench.at.proxies;
    const far = await bench.open('fast', [proxy.endpoint]);
    const spec = newSpec(bench.queue);
    const lost = loseReply(proxy, mentions(spec.id));
    expect(await codeOf(far.enqueue(spec))).to.equal('UNAVAILABLE');
    await lost;
    expect(await bench.keys()).to.have.length(1);
    expect(await far.remove(bench.queue, spec.id)).to.equal(true);
    expect([await bench.keys(), await bench.tail()]).to.deep.equal([[], undefined]);
  });

  it('leave no key when the reply to a release is lost', async () => {
    const [proxy] = bench.at.proxies;
    const far = await bench.open('fast', [proxy.endpoint]);
    const position = await bench.enter(far);
    await bench.follow(position).untilAdmitted();
    const lost = loseReply(proxy, mentions(position.spec.id));
    expect(await codeOf(bench.leave(position))).to.equal('UNAVAILABLE');
    await lost;
    expect(await bench.leave(position)).to.equal(false);
    expect([await bench.keys(), await bench.tail()]).to.deep.equal([[], undefined]);
  });

  it('are granted one at a time, in order, when many are cancelled and others have naming go', async () => {
    const sessions = [session, await bench.open(), await bench.open(), session];
    await holdInOrder(bench, { sessions, visitors: [plain], holds: 50 });
  });
});
