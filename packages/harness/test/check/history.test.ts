import { expect } from 'chai';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from '../../src/check.ts';
import { withEvents } from '../../src/check/context.ts';
import { LIMITS } from '../../src/check/judged.ts';
import { HistoryBuilder } from '../../src/check/history-builder.ts';
import { readEvents, readRun } from '../../src/check/history.ts';
import { Recorder } from '../../src/check/worker-record.ts';

const builder = (): HistoryBuilder =>
  new HistoryBuilder()
    .worker('a', 0)
    .worker('b', 0)
    .attempt('a', { token: 1, queued: 10, acquired: 20, released: 100 })
    .attempt('b', { token: 2, queued: 30, acquired: 99, released: 150 })
    .attempt('b', { n: 2, queue: 'other', token: 7, queued: 95, acquired: 98, released: 105 })
    .read('a', 99.5, true)
    .close(300, 'a', 'b');

describe('histories in files', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'queuelock-history-'));
  });
  afterEach(async () => {
    await rm(directory, { recursive: true });
  });
  const fileOf = (who: string): string => join(directory, `${who}.jsonl`);
  const write = async ({ events }: HistoryBuilder): Promise<void> => {
    for (const who of new Set(events.map((event) => event.who))) {
      const lines = events.filter((event) => event.who === who).map((event) => `${JSON.stringify(event)}\n`);
      await writeFile(fileOf(who), lines.join(''));
    }
  };
  const found = async (): Promise<string[]> => {
    const { run } = await readRun(directory);
    return check(run, LIMITS).findings.map(({ rule, message }) => `${rule}: ${message}`);
  };

  it('of several processes are checked as one history', async () => {
    await write(builder());
    const { run, files } = await readRun(directory);
    expect(files).to.equal(3);
    expect(check(run, LIMITS).findings.map(({ rule }) => rule)).to.deep.equal(['S2']);
  });
  it('are merged in the order of their time stamps', async () => {
    await write(builder());
    const stamps = (await readEvents(directory)).map(({ t }) => BigInt(t));
    expect(stamps).to.have.length(builder().events.length);
    expect(stamps.every((stamp, i) => i === 0 || stamp >= (stamps[i - 1] ?? 0n))).to.equal(true);
  });
  it('may end with an incomplete line only if the process was killed', async () => {
    const killed = new HistoryBuilder().worker('a', 0).attempt('a', { token: 1, queued: 10, acquired: 20 });
    await write(killed.harness(50, { ev: 'killed', worker: 'a' }).close(300));
    await appendFile(fileOf('a'), '{"t":"12345');
    expect(await found()).to.deep.equal([]);
    expect((await readRun(directory)).run.torn).to.equal(1);
    await write(new HistoryBuilder().worker('a', 0).close(300, 'a'));
    await appendFile(fileOf('a'), '{"t":"12345');
    expect(await found()).to.deep.equal([
      'story: the history of a breaks off within a line, and nobody killed it',
    ]);
  });
  it('may end without a line break', async () => {
    await write(new HistoryBuilder().worker('a', 0).close(300, 'a'));
    await appendFile(fileOf('harness'), '{"t":"1234567890500000000","who":"harness","ev":"calm"}');
    expect((await readRun(directory)).run.torn).to.equal(0);
  });
  it('contain no event that was recorded after the recorder was closed', async () => {
    const recorder = new Recorder('harness', fileOf('harness'));
    recorder.tell({ ev: 'calm' });
    recorder.close();
    recorder.tell({ ev: 'end' });
    recorder.close();
    expect(await readFile(fileOf('harness'), 'utf8')).to.match(/^.*"calm".*\n$/);
  });
  it('are rejected with file and line when a line in the middle is not JSON', async () => {
    await writeFile(
      fileOf('a'),
      '{"t":"1","who":"a","ev":"session-lost"}\n{"t":\n{"t":"2","who":"a","ev":"session-lost"}\n',
    );
    const refused = await readRun(directory).then(String, String);
    expect(refused).to.contain('Line 2 of').and.contain('a.jsonl');
  });
  it('are rejected when the directory contains no history', async () => {
    expect(await readRun(directory).then(String, String)).to.contain('has no file that ends in .jsonl');
  });
  it('supply, for each violation, the ten events of its queue that are nearest in time', async () => {
    await write(builder());
    const { run } = await readRun(directory);
    const [finding] = await withEvents(directory, check(run, LIMITS).findings);
    const events = finding?.events ?? [];
    expect(events).to.have.length(10);
    expect(events.map(({ ev }) => ev))
      .to.include.members(['acquired', 'released'])
      .and.not.include('beat');
    expect(events.every((event) => !('queue' in event) || event.queue === 'q')).to.equal(true);
    expect(events.filter(({ t }) => BigInt(t) > BigInt(finding?.at ?? 0))).to.have.length(5);
  });
});
