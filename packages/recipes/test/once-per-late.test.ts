import type { LockClient } from '@queuelock/core';
import { expect } from 'chai';
import fc from 'fast-check';
import { oncePer, type OncePer, type OncePerOptions } from '../src/index.ts';
import { MemoryStage, deferred, failureOf } from './election-stage.ts';

const noWork = (): void => undefined;

describe('oncePer with lateSlots', () => {
  let stage: MemoryStage;
  let client: LockClient;

  beforeEach(() => {
    stage = new MemoryStage();
    client = stage.client();
  });

  afterEach(() => stage.close());

  const job = (lateSlots: number, options: OncePerOptions = {}): OncePer =>
    oncePer(client, 'report', { lateSlots, ...options });
  const outcomes = async (once: OncePer, slots: readonly number[]): Promise<readonly string[]> => {
    const results: string[] = [];
    for (const slot of slots) results.push((await once.run(slot, noWork)).outcome);
    return results;
  };

  it('does the work of a late slot once; a second call returns the client that did it', async () => {
    const late = job(2, { owner: 'cold' });
    expect(await outcomes(late, [1, 3])).to.deep.equal(['ran', 'ran']);
    const ran = await late.run(2, () => 'late');
    expect(ran).to.include({ outcome: 'ran', value: 'late' });
    expect(await job(2).run(2, () => expect.fail('not twice'))).to.include({
      outcome: 'already-done',
      slot: '2',
      by: 'cold',
    });
    expect(await late.latest()).to.include({ slot: '3' });
  });

  it('does the work of a late slot whose call waited during the work of a newer slot', async () => {
    const hold = await client.acquire('report');
    const { promise: end, resolve } = deferred();
    const newer = job(1).run(2, () => end);
    await stage.settle();
    const older = job(1).run(1, () => 'late');
    await stage.settle();
    resolve();
    await hold.release();
    expect((await newer).outcome).to.equal('ran');
    expect(await older).to.include({ outcome: 'ran', value: 'late' });
  });

  it('returns superseded for a slot with more than lateSlots newer slots', async () => {
    expect(await outcomes(job(1), [1, 5, 4, 6, 3, 5, 4, 7])).to.deep.equal([
      'ran',
      'ran',
      'ran',
      'ran',
      'superseded',
      'already-done',
      'superseded',
      'ran',
    ]);
  });

  it('does the work of no older slot after a client without lateSlots has dropped earlier notes', async () => {
    expect(await outcomes(job(0), [3, 5])).to.deep.equal(['ran', 'ran']);
    expect(await outcomes(job(3), [3, 4, 6, 5])).to.deep.equal([
      'superseded',
      'superseded',
      'ran',
      'already-done',
    ]);
    expect(await outcomes(job(0), [4, 7])).to.deep.equal(['superseded', 'ran']);
    expect(await outcomes(job(3), [6, 5])).to.deep.equal(['superseded', 'superseded']);
  });

  it('does the work of each slot at most once, and not at all after more than lateSlots newer slots', async () => {
    const plan = fc.record({
      lateSlots: fc.nat(3),
      slots: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 25 }),
    });
    let name = 0;
    await fc.assert(
      fc.asyncProperty(plan, async ({ lateSlots, slots }) => {
        const once = oncePer(client, `job ${(name += 1)}`, { lateSlots });
        const done = new Set<number>();
        for (const slot of slots) {
          const isLate = [...done].filter((one) => one > slot).length > lateSlots;
          const undone = isLate ? 'superseded' : 'ran';
          const { outcome } = await once.run(slot, noWork);
          expect(outcome).to.equal(done.has(slot) && !isLate ? 'already-done' : undone);
          if (outcome === 'ran') done.add(slot);
        }
      }),
      { numRuns: 25, seed: 1 },
    );
  });

  it('keeps lateSlots + 1 notes in a register, even with long names of owners', async () => {
    const once = job(15, { owner: 'o'.repeat(100) });
    await outcomes(
      once,
      Array.from({ length: 20 }, (_, slot) => slot),
    );
    expect(await outcomes(once, [4, 3])).to.deep.equal(['already-done', 'superseded']);
  });

  it('rejects invalid arguments with an error that states argument, value and rule', async () => {
    for (const lateSlots of [-1, 16, 1.5]) expect(() => job(lateSlots)).to.throw(/lateSlots.*from 0 to 15/);
    const error = await failureOf(job(15).run('x'.repeat(250), () => expect.fail('too long')));
    expect(String(error)).to.match(/INVALID_ARGUMENT.*slot.*250 bytes together with owner/);
    await client
      .register('other', 'slot')
      .change(() => '{"slot":"1","token":"1","by":"x","at":1,"earlier":[{}]}');
    expect(String(await failureOf(oncePer(client, 'other').latest()))).to.match(
      /contains what oncePer wrote/,
    );
  });
});
