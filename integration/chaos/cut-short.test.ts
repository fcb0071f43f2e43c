import { SafetyViolation } from '@queuelock/conformance';
import { expect } from 'chai';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HistoryBuilder } from '@queuelock/harness/check/history-builder';
import { expectSafe } from './verdicts.ts';

/**
 * Returns the history of a run that ended at 200 ms: `a` has begun to release, `b` holds, `c` waits, and `d`
 * enqueues. The event `calm`, at which all faults are over, and the end of the run are missing.
 */
const cutShort = (): HistoryBuilder =>
  new HistoryBuilder()
    .worker('a', 0)
    .worker('b', 0)
    .worker('c', 0)
    .worker('d', 0)
    .attempt('a', { token: 1, queued: 10, acquired: 20, released: 50 })
    .without('left')
    .attempt('b', { token: 2, queued: 30, acquired: 60 })
    .attempt('c', { token: 3, queued: 40 })
    .attempt('d', { token: 4, enqueue: 199 })
    .fault(1, { what: 'leader killed', target: 'etcd-1', from: 100 });

const killedAt = (ms: number, builder: HistoryBuilder): HistoryBuilder => {
  for (const worker of ['a', 'b', 'c', 'd'])
    builder
      .harness(ms, { ev: 'killed', worker })
      .harness(ms + 1, { ev: 'exited', worker, clean: false, tookMs: 0 });
  return builder;
};

describe('a chaos run that was cut short', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'queuelock-cut-short-'));
  });
  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  const fileOf = (who: string): string => join(directory, `${who}.jsonl`);
  const found = async ({ events }: HistoryBuilder): Promise<string> => {
    for (const who of new Set(events.map((event) => event.who))) {
      const lines = events.filter((event) => event.who === who).map((event) => `${JSON.stringify(event)}\n`);
      await writeFile(fileOf(who), lines.join(''));
    }
    // The harness may have died before it recorded the kill of this worker, and the last line of the worker's
    // history may be incomplete.
    await appendFile(fileOf('d'), '{"t":"12345');
    return expectSafe(directory, {}).then(() => 'nothing', String);
  };

  it('is judged safe although the ends of its holds, waits and faults are not recorded', async () => {
    expect(await found(killedAt(200, cutShort()))).to.equal('nothing');
    expect(await found(cutShort())).to.equal('nothing');
  });
  it('is judged unsafe if two workers hold at the same time', async () => {
    const overlap = (): HistoryBuilder =>
      cutShort().attempt('d', { n: 2, token: 5, queued: 100, acquired: 150 });
    for (const builder of [killedAt(200, overlap()), overlap()])
      expect(await found(builder)).to.match(/^SafetyViolation: .*S2: b#1 .* until d#2 /s);
  });
  it('is judged unsafe if a resource accepted a late write of an earlier holder', async () => {
    const late = cutShort().effect('b', 100, { token: 2 }).effect('a', 150, { token: 1, believed: false });
    expect(await found(late)).to.match(/^SafetyViolation: .*S1: "store" accepted 1 of a#1/s);
  });
  it('is judged unsafe if a waiter was granted before another waiter ahead of it', async () => {
    const past = cutShort()
      .harness(70, { ev: 'killed', worker: 'b' })
      .attempt('d', { n: 2, token: 5, queued: 100, acquired: 150 });
    expect(await found(past)).to.match(/^SafetyViolation: .*F1: d#2 .* past c#1 /s);
  });
  it('is reported as a `SafetyViolation` that names the directory of its history, if it is unsafe', async () => {
    const overlap = cutShort().attempt('d', { n: 2, token: 5, queued: 100, acquired: 150 });
    await found(overlap);
    const error = await expectSafe(directory, {}).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(SafetyViolation);
    expect((error as Error).message).to.include(directory);
  });
});
