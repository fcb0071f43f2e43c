import type { WorkOptions } from '@queuelock/core';
import { expect } from 'chai';
import { cohort, curatorSemaphore, election, oncePer, semaphore, type TermEnd } from '../src/index.ts';
import { MemoryStage, TTL_MS, failureOf } from './election-stage.ts';

type Work = (hold: unknown, stop: AbortSignal) => Promise<never>;

const untilStopped: Work = (_hold, stop) =>
  new Promise((_, reject) => {
    stop.addEventListener('abort', () => reject(stop.reason as Error));
  });

describe("a recipe that runs the caller's work", () => {
  let stage: MemoryStage;

  beforeEach(() => {
    stage = new MemoryStage();
  });

  afterEach(() => stage.close());

  const WAYS: Readonly<Record<string, (options: WorkOptions) => Promise<unknown>>> = {
    semaphore: (o) => semaphore(stage.client(), 'x', { limit: 2 }).run(untilStopped, o),
    curatorSemaphore: (o) => curatorSemaphore(stage.client(), 'x', { maxLeases: 2 }).run(untilStopped, o),
    oncePer: ({ stop, ...o }) =>
      oncePer(stage.client(), 'x').run(1, untilStopped, stop ? { ...o, signal: stop } : o),
  };

  for (const [recipe, run] of Object.entries(WAYS)) {
    it(`rejects with WORK_TIMEOUT when the work exceeds workTimeoutMs: ${recipe}`, async () => {
      const late = failureOf(run({ workTimeoutMs: 300 }));
      await stage.clock.advance(2_000);
      expect(await late).to.include({ code: 'WORK_TIMEOUT' });
    });

    it(`aborts the work when the caller's signal aborts: ${recipe}`, async () => {
      const shutdown = new AbortController();
      const stopped = failureOf(run({ stop: shutdown.signal }));
      await stage.clock.advance(1_000);
      shutdown.abort(new Error('down'));
      await stage.clock.advance(1_000);
      expect(await stopped).to.equal(shutdown.signal.reason);
    });
  }

  it('aborts the work of one cohort caller at its stop signal, and then runs the next caller', async () => {
    const crew = cohort(stage.client(), 'x');
    const shutdown = new AbortController();
    const stopped = failureOf(crew.run(untilStopped, { stop: shutdown.signal }));
    const next = crew.run(() => 'next');
    await stage.settle();
    shutdown.abort(new Error('down'));
    await stage.clock.advance(1_000);
    expect(await stopped).to.equal(shutdown.signal.reason);
    expect(await next).to.equal('next');
    await crew.close();
  });

  it("aborts a leader's work at its time limit, and makes the client a candidate again", async () => {
    const retiring = new AbortController();
    const ends: TermEnd[] = [];
    const { clock } = stage;
    const led = election(stage.client(), 'x', { value: 'a', clock }).lead(untilStopped, {
      signal: retiring.signal,
      workTimeoutMs: 1_000,
      onEnd: (end) => ends.push(end),
    });
    await clock.advance(3_500);
    expect(ends.map(({ outcome }) => outcome)).to.deep.equal(['timed-out', 'timed-out', 'timed-out']);
    expect(ends[0]).to.have.nested.property('error.code', 'WORK_TIMEOUT');
    const over = led.catch(() => undefined);
    retiring.abort();
    await clock.advance(TTL_MS);
    await over;
  });
});
