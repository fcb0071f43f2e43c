import type { LockClient } from '@queuelock/core';
import { expect } from 'chai';
import { oncePer, type OncePer, type SlotOutcome } from '../src/index.ts';
import { MemoryStage, deferred, failureOf, thrownBy } from './election-stage.ts';
import { givenUpAtEveryPoint } from './give-up.ts';

describe('oncePer', () => {
  let stage: MemoryStage;
  let client: LockClient;
  let report: OncePer;
  let theirs: OncePer;

  beforeEach(() => {
    stage = new MemoryStage();
    client = stage.client();
    report = oncePer(client, 'report', { owner: 'a' });
    theirs = oncePer(stage.client(), 'report', { owner: 'b' });
  });

  afterEach(() => stage.close());

  const untilDone = (owner: string): OncePer =>
    oncePer(stage.client(), 'report', { guarantee: 'at-least-once', owner });

  it('does the work in the first call, and returns the owner of that call to the others', async () => {
    const ran = await report.run(1, ({ token }) => `with ${token}`);
    expect(ran).to.deep.include({ outcome: 'ran', slot: '1' });
    const { token } = ran as Extract<SlotOutcome<string>, { outcome: 'ran' }>;
    expect(ran).to.include({ value: `with ${token}` });
    const already = await theirs.run(1, () => expect.fail('not again'));
    expect(already).to.include({ outcome: 'already-done', slot: '1', token, by: 'a' });
    expect(await report.latest()).to.include({ slot: '1', token, by: 'a' });
    expect(JSON.parse(JSON.stringify(already))).to.include({ token: String(token) });
  });

  it('does the work of a newer slot, and not of an older one, whatever the clock of the caller shows', async () => {
    await report.run(2, () => undefined);
    expect(await theirs.run(1, () => expect.fail('late'))).to.include({ outcome: 'superseded', slot: '2' });
    expect(await theirs.run(3, () => 'next')).to.include({ outcome: 'ran', value: 'next' });
  });

  it('resolves other calls for an at-most-once slot while the first call is still doing its work', async () => {
    const { promise: end, resolve } = deferred();
    const calls = [report, theirs].map((one) => one.run(1, () => end));
    const second = await calls[1];
    expect(second).to.include({ outcome: 'already-done', by: 'a' });
    await stage.settle();
    expect(stage.server.entryCount).to.equal(1);
    resolve();
    expect(await calls[0]).to.include({ outcome: 'ran' });
  });

  it('makes callers with at-least-once wait until the slot is done', async () => {
    const { promise: end, resolve } = deferred();
    const first = untilDone('a').run(1, () => end);
    await stage.settle();
    let second: unknown;
    void untilDone('b')
      .run(1, () => expect.fail('not twice'))
      .then((outcome) => (second = outcome));
    await stage.settle();
    expect([second, await report.latest()]).to.deep.equal([undefined, undefined]);
    resolve();
    expect(await first).to.include({ outcome: 'ran' });
    await stage.settle();
    expect(second).to.include({ outcome: 'already-done', by: 'a' });
  });

  it('runs a slot again after its work threw if the guarantee is at-least-once, not at-most-once', async () => {
    const failure = new Error('no paper');
    const broken = (): never => {
      throw failure;
    };
    expect(await failureOf(untilDone('a').run(1, broken))).to.equal(failure);
    expect(await untilDone('b').run(1, () => 'done')).to.include({ outcome: 'ran', value: 'done' });
    expect(await failureOf(report.run(2, broken))).to.equal(failure);
    expect(await theirs.run(2, () => expect.fail('not again'))).to.include({
      outcome: 'already-done',
      by: 'a',
    });
  });

  it('runs a slot again after its holder died during the work if the guarantee is at-least-once, not at-most-once', async () => {
    for (const [guarantee, slot, outcome] of [
      ['at-least-once', 1, 'ran'],
      ['at-most-once', 2, 'already-done'],
    ] as const) {
      const { promise: end, resolve } = deferred();
      const dying = oncePer(stage.client(), 'report', { guarantee, owner: 'dies' }).run(slot, () => end);
      await stage.settle();
      const next = oncePer(stage.client(), 'report', { guarantee, owner: 'next' }).run(slot, () => 'done');
      await stage.settle();
      stage.expireFirst('report');
      expect((await next).outcome).to.equal(outcome);
      resolve();
      expect(await failureOf(dying)).to.include({ code: 'OWNERSHIP_LOST' });
    }
  });

  it('aborts the work when the caller aborts, but notes the slot as done if the work returns nevertheless', async () => {
    const giving = new AbortController();
    const reason = new Error('shutdown');
    const run = untilDone('a').run(
      1,
      (_ownership, stop) =>
        new Promise((resolve) => stop.addEventListener('abort', () => resolve(stop.reason))),
      { signal: giving.signal },
    );
    await stage.settle();
    giving.abort(reason);
    expect(await run).to.include({ outcome: 'ran', value: reason });
    expect(await report.latest()).to.include({ slot: '1' });
    const half = untilDone('a').run(2, (_ownership, stop) => stop.throwIfAborted(), {
      signal: AbortSignal.abort(reason),
    });
    expect(await failureOf(half)).to.equal(reason);
    expect(await report.latest()).to.include({ slot: '1' });
  });

  it('rejects a call that waits for longer than timeoutMs, and does not apply this limit to the work', async () => {
    const { promise: end, resolve } = deferred();
    const first = untilDone('a').run(1, () => end, { timeoutMs: 20 });
    await stage.settle();
    const late = failureOf(untilDone('b').run(1, () => 'no', { timeoutMs: 20 }));
    await stage.clock.advance(20);
    expect(await late).to.include({ code: 'TIMEOUT' });
    resolve();
    expect(await first).to.include({ outcome: 'ran' });
  });

  for (const guarantee of ['at-most-once', 'at-least-once'] as const) {
    it(`leaves no entry when a call is aborted at any await, with the guarantee ${guarantee}`, async () => {
      const before = async (at: MemoryStage): Promise<() => unknown> => {
        const ahead = await at.client().acquire('report');
        return () => ahead.release();
      };
      const attempt = (mine: LockClient, signal: AbortSignal): Promise<unknown> =>
        oncePer(mine, 'report', { guarantee }).run(1, (_ownership, stop) => stop.throwIfAborted(), {
          signal,
        });
      expect(await givenUpAtEveryPoint({ before, attempt })).to.be.above(0);
    });
  }

  it('leaves nothing on the server after `forget`', async () => {
    await report.run(5, () => undefined);
    await report.forget();
    expect([stage.server.registerCount, await report.latest()]).to.deep.equal([0, undefined]);
    expect(await report.run(1, () => undefined)).to.include({ outcome: 'ran' });
  });

  it('rejects invalid arguments, and a register whose text another program has written', async () => {
    expect(thrownBy(() => oncePer(client, ''))).to.include({ code: 'INVALID_ARGUMENT' });
    const wrong = { guarantee: 'exactly-once' as 'at-least-once' };
    expect(thrownBy(() => oncePer(client, 'report', wrong))).to.include({ code: 'INVALID_ARGUMENT' });
    for (const slot of ['', 'x'.repeat(257), -1, 1.5, new Date(NaN), undefined as unknown as string])
      expect(await failureOf(report.run(slot, () => 1)), String(slot)).to.include({
        code: 'INVALID_ARGUMENT',
      });
    for (const note of ['{"slot":1}', '{"slot":"1","token":"7","by":"b","at":1e300}']) {
      await client.register('report', 'slot').change(() => note);
      expect(await failureOf(report.run(1, () => 1))).to.include({ code: 'INVALID_ARGUMENT' });
    }
    for (const compare of [1, 'semver', {}])
      expect(thrownBy(() => oncePer(client, 'report', { compare: compare as never }))).to.include({
        code: 'INVALID_ARGUMENT',
      });
    await report.forget();
  });

  it('orders a release after its release candidates, whether its slot begins with v or not', async () => {
    for (const slot of ['1.9.0', '1.10.0-rc.1', '1.10.0-rc.2', '1.10.0', 'v1.11.0', '1.12.0'])
      expect(await report.run(slot, () => slot), slot).to.include({ outcome: 'ran', value: slot });
    expect(await report.run('v1.12.0', () => expect.fail('not again'))).to.include({
      outcome: 'already-done',
      slot: '1.12.0',
    });
    expect(await report.run('1.12.0-rc.3', () => expect.fail('late'))).to.include({
      outcome: 'superseded',
      slot: '1.12.0',
    });
  });

  it('rejects a slot that cannot be ordered with the latest one', async () => {
    await report.run('1.9.0', () => undefined);
    const error = await failureOf(theirs.run('release-b', () => expect.fail('not in order')));
    expect(error).to.include({ code: 'INVALID_ARGUMENT' });
    expect(error).to.have.property('message').that.includes('"1.9.0" and "release-b" cannot be ordered');
    expect(await report.latest()).to.include({ slot: '1.9.0' });
    expect(stage.server.entryCount).to.equal(0);
  });

  it('rejects a waiter whose slot cannot be ordered with a slot that is noted during the wait', async () => {
    const { promise: end, resolve } = deferred();
    const first = untilDone('a').run('release-a', () => end);
    await stage.settle();
    const second = failureOf(untilDone('b').run('release-b', () => expect.fail('not in order')));
    await stage.settle();
    resolve();
    expect(await first).to.include({ outcome: 'ran' });
    expect(await second).to.include({ code: 'INVALID_ARGUMENT' });
    await stage.settle();
    expect(stage.server.entryCount).to.equal(0);
  });

  it('orders slots by the function compare', async () => {
    const sizes = ['small', 'medium', 'large'];
    const compare = (one: string, other: string): number => sizes.indexOf(one) - sizes.indexOf(other);
    const bySize = oncePer(client, 'sizes', { compare });
    for (const slot of sizes)
      expect(await bySize.run(slot, () => slot)).to.include({ outcome: 'ran', value: slot });
    expect(await bySize.run('small', () => expect.fail('late'))).to.include({ outcome: 'superseded' });
  });

  for (const [what, compare] of Object.entries({
    'returns NaN': () => NaN,
    'returns a text': (): number => '1' as unknown as number,
    'throws an error': (): never => {
      throw new Error('no order');
    },
  }))
    it(`rejects a call, and does not retry it, if the option compare is a function that ${what}`, async () => {
      await report.run('1', () => undefined);
      const broken = oncePer(client, 'report', { compare });
      expect(await failureOf(broken.run('2', () => expect.fail('not in order')))).to.include({
        code: 'INVALID_ARGUMENT',
      });
      // `run` also rejects if another client stores a slot in the register during the call, and the function
      // `compare` fails for that slot.
      await report.forget();
      const run = failureOf(broken.run('2', () => expect.fail('not in order')));
      await client.register('report', 'slot').change(() => '{"slot":"1","token":"1","by":"b","at":1}');
      expect(await run).to.include({ code: 'INVALID_ARGUMENT' });
    });
});
