import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from '@queuelock/harness/check';
import { LIMITS } from '@queuelock/harness/check/judged';
import { STANDSTILL } from '@queuelock/harness/check/standstills';
import { readRun } from '@queuelock/harness/check/history';
import { recordStandstills } from './standstills.ts';
import { Recorder, stampNow } from '@queuelock/harness/check/worker-record';

const STANDSTILL_MS = 300;

describe('a standstill of the harness', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'queuelock-standstills-'));
  });
  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  it('is recorded as a fault of the machine, which ends after the next event of the history', async () => {
    const recorder = new Recorder('harness', join(directory, 'harness.jsonl'));
    let faults = 6;
    const end = recordStandstills(recorder, () => (faults += 1));
    const from = stampNow();
    standStill();
    recorder.tell({ ev: 'calm' });
    const to = stampNow();
    end();
    recorder.tell({ ev: 'end' });
    recorder.close();
    const { run } = await readRun(directory);
    const standstill = run.faults.find((fault) => fault.to >= run.momentOf(to))!;
    expect(standstill).to.include({ what: STANDSTILL, target: 'machine', number: faults });
    expect(standstill.from).to.be.at.most(run.momentOf(from));
    expect(run.calm).to.be.within(standstill.from, standstill.to);
    expect(check(run, LIMITS).findings).to.deep.equal([]);
  });
});

function standStill(): void {
  const until = performance.now() + STANDSTILL_MS;
  while (performance.now() < until);
}
