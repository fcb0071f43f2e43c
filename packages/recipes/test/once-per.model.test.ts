import { expect } from 'chai';
import fc from 'fast-check';
import { oncePer, type OncePerOptions, type SlotOutcome } from '../src/index.ts';
import { MemoryStage, TTL_MS } from './election-stage.ts';
import { Instance } from './instance.ts';

type Promised = NonNullable<OncePerOptions['guarantee']>;
type Result = SlotOutcome<string> | { readonly outcome: 'failed'; readonly error: unknown };

const SOON_MS = 200;
const LATE_MS = TTL_MS * 3;

/** Several simulated processes that call `oncePer`, with records of the slots whose work began and ended. */
class Scene {
  readonly stage = new MemoryStage();
  readonly begun: number[] = [];
  readonly ended: number[] = [];
  /** Slots whose work began although the hold was already lost. */
  readonly late: number[] = [];
  readonly #instances: Instance[] = [];
  readonly #promise: Promised;
  readonly #lateSlots: number;

  constructor(promise: Promised, lateSlots = 0) {
    this.#promise = promise;
    this.#lateSlots = lateSlots;
  }

  instance(freezeAt?: number): Instance {
    const instance = new Instance(this.stage, freezeAt);
    this.#instances.push(instance);
    return instance;
  }

  /**
   * Starts a call of `oncePer` in one simulated process. Returns an object that gets the result of the call
   * when it settles.
   */
  call(instance: Instance, slot: number, owner: string): { result: Result | undefined } {
    const called: { result: Result | undefined } = { result: undefined };
    const work = async (ownership: { readonly held: boolean }): Promise<string> => {
      if (!ownership.held) this.late.push(slot);
      this.begun.push(slot);
      await instance.point();
      await instance.point();
      this.ended.push(slot);
      return owner;
    };
    oncePer(instance.client, 'x', { guarantee: this.#promise, owner, lateSlots: this.#lateSlots })
      .run(slot, work)
      .then(
        (result) => (called.result = result),
        (error: unknown) => (called.result = { outcome: 'failed', error }),
      );
    return called;
  }

  async close(): Promise<void> {
    for (const instance of this.#instances) instance.over();
    await this.stage.clock.advance(SOON_MS);
    const closing = this.stage.close();
    await this.stage.clock.advance(TTL_MS);
    await closing;
  }
}

const count = (all: readonly number[], one: number): number => all.filter((slot) => slot === one).length;

/**
 * Freezes one simulated process at its `at`-th point at which it awaits something, while another process
 * waits for the same slot. Then a third process runs a newer slot, and the frozen process resumes.
 * @returns the number of points at which the first process awaited something
 */
async function frozenAt(promise: Promised, at: number): Promise<number> {
  const scene = new Scene(promise);
  const { stage, begun, ended } = scene;
  const [frozen, other, third] = [scene.instance(at), scene.instance(), scene.instance()];
  const mine = scene.call(frozen, 1, 'frozen');
  await stage.clock.advance(2);
  const theirs = scene.call(other, 1, 'other');
  await stage.clock.advance(LATE_MS);
  const about = `frozen at ${at}`;
  expect(theirs.result?.outcome, about).to.be.oneOf(['ran', 'already-done']);
  if (promise === 'at-most-once') expect(begun.length, about).to.be.at.most(1);
  else expect(ended.length, about).to.be.at.least(1);
  if (theirs.result!.outcome === 'already-done') expect(theirs.result, about).to.include({ by: 'frozen' });
  const newer = scene.call(third, 2, 'third');
  await stage.clock.advance(SOON_MS);
  expect(newer.result, about).to.include({ outcome: 'ran', value: 'third' });
  frozen.wake();
  await stage.clock.advance(LATE_MS);
  expect(mine.result, about).not.to.equal(undefined);
  expect(count(begun, 1), about).to.be.at.most(promise === 'at-most-once' ? 1 : 2);
  expect(count(begun, 2), about).to.equal(1);
  expect(scene.late, about).to.deep.equal([]);
  const latest = await oncePer(stage.client(), 'x').latest();
  expect(latest, about).to.include({ slot: '2', by: 'third' });
  await scene.close();
  return frozen.points;
}

describe('oncePer with instances that die or freeze', () => {
  for (const promise of ['at-most-once', 'at-least-once'] as const) {
    it(`keeps the guarantee ${promise} at whatever point an instance dies or freezes`, async () => {
      const points = await frozenAt(promise, Infinity);
      expect(points).to.be.greaterThan(10);
      for (let at = 0; at < Math.min(points, 60); at += 1) await frozenAt(promise, at);
    }).timeout(60_000);

    it(`keeps the guarantee ${promise} with any mix of instances, slots and freezes`, async () => {
      const instance = fc.record({
        slot: fc.integer({ min: 1, max: 3 }),
        comesAfterMs: fc.integer({ min: 0, max: 12 }),
        freezeAt: fc.option(fc.integer({ min: 0, max: 40 }), { nil: Infinity }),
        wakesAfterMs: fc.constantFrom(5, TTL_MS / 2, TTL_MS * 2),
      });
      const plan = fc.array(instance, { minLength: 2, maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(plan, fc.nat(2), async (instances, lateSlots) => {
          const scene = new Scene(promise, lateSlots);
          const { clock } = scene.stage;
          const calls: { readonly slot: number; readonly called: { result: Result | undefined } }[] = [];
          for (const [i, { slot, comesAfterMs, freezeAt, wakesAfterMs }] of instances.entries()) {
            const one = scene.instance(freezeAt);
            clock.after(comesAfterMs, () => calls.push({ slot, called: scene.call(one, slot, `i${i}`) }));
            clock.after(comesAfterMs + wakesAfterMs, () => one.wake());
          }
          // With random times, `wake` may come before a simulated process has reached the point at which it
          // freezes. Then the process stays frozen until the end of the trial, as if it had died.
          await clock.advance(LATE_MS * instances.length);
          expect(scene.late).to.deep.equal([]);
          const isCalm = instances.every(({ freezeAt }) => freezeAt === Infinity);
          const alive = calls.filter(({ called }) => called.result);
          const ran = alive.filter(({ called }) => called.result!.outcome === 'ran').map(({ slot }) => slot);
          for (const slot of [1, 2, 3]) {
            if (promise === 'at-most-once' || isCalm) expect(count(scene.begun, slot)).to.be.at.most(1);
            expect(count(ran, slot)).to.be.at.most(count(scene.ended, slot));
          }
          for (const { slot, called } of alive)
            if (called.result!.outcome === 'already-done' && promise === 'at-least-once')
              expect(count(scene.ended, slot), 'done, as was said').to.be.at.least(1);
          const newest = Math.max(...alive.map(({ slot }) => slot), 0);
          const latest = await oncePer(scene.stage.client(), 'x').latest();
          const resolved = alive.filter(({ called }) => called.result!.outcome !== 'failed');
          if (resolved.some(({ slot }) => slot === newest))
            expect(Number(latest?.slot)).to.be.at.least(newest);
          await scene.close();
        }),
        { numRuns: 60 },
      );
    }).timeout(60_000);
  }
});
