import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HistoryBuilder } from '@queuelock/harness/check/history-builder';
import { LiveFacts } from './live.ts';

describe('the live counts of a chaos run', () => {
  let directory: string;
  let live: LiveFacts;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'queuelock-live-'));
    live = new LiveFacts(directory);
  });

  afterEach(() => {
    live.close();
    rmSync(directory, { recursive: true });
  });

  /**
   * Appends the events that these builders have collected to the history file of each worker, and updates the
   * live counts.
   */
  function append(...builders: HistoryBuilder[]): void {
    for (const { who, ...rest } of builders.flatMap(({ events }) => events))
      appendFileSync(join(directory, `${who}.jsonl`), `${JSON.stringify({ who, ...rest })}\n`);
    live.readState();
  }

  it('count each hold as soon as its grant is written to the history', () => {
    append(new HistoryBuilder().attempt('worker-1', { token: 1, queued: 0, acquired: 1 }));
    expect(live.holds).to.equal(1);
    append(new HistoryBuilder().attempt('worker-2', { token: 2, queued: 0, acquired: 10 }));
    expect(live.holds).to.equal(2);
  });

  it('count the last line of a history only when the line is complete', () => {
    const file = join(directory, 'worker-1.jsonl');
    const line = JSON.stringify(
      new HistoryBuilder().attempt('worker-1', { token: 1, acquired: 1 }).events[0],
    );
    appendFileSync(file, line.slice(0, 20));
    live.readState();
    expect(live.holds).to.equal(0);
    appendFileSync(file, `${line.slice(20)}\n`);
    live.readState();
    expect(live.holds).to.equal(1);
  });

  it('count a worker as busy while its claim is in progress, unless the worker was killed', () => {
    append(new HistoryBuilder().attempt('worker-1', { token: 1, queued: 0 }));
    expect(live.isBusy(['worker-1'])).to.equal(true);
    expect(live.isBusy(['worker-2'])).to.equal(false);
    append(new HistoryBuilder().attempt('worker-1', { token: 1, acquired: 5, released: 6 }));
    expect(live.isBusy(['worker-1'])).to.equal(false);
    append(new HistoryBuilder().attempt('worker-2', { token: 2, queued: 0 }));
    append(new HistoryBuilder().harness(7, { ev: 'killed', worker: 'worker-2' }));
    expect(live.isBusy(['worker-2'])).to.equal(false);
  });

  for (const [order, first, second] of [
    ['the holder’s', 'worker-1', 'worker-2'],
    ['the next holder’s', 'worker-2', 'worker-1'],
  ]) {
    it(`report a violation of exclusion when ${order} history is read first`, () => {
      const builders: Record<string, HistoryBuilder> = {
        'worker-1': new HistoryBuilder()
          .attempt('worker-1', { token: 1, acquired: 1 })
          .read('worker-1', 100, true)
          .read('worker-1', 200, true),
        'worker-2': new HistoryBuilder().attempt('worker-2', { token: 2, acquired: 150 }),
      };
      append(builders[first!]!);
      expect(live.violations).to.equal(0);
      append(builders[second!]!);
      expect(live.violations).to.equal(1);
    });
  }

  it('report no violation for holds in sequence', () => {
    append(
      new HistoryBuilder().attempt('worker-1', { token: 1, acquired: 1 }).read('worker-1', 100, true),
      new HistoryBuilder().attempt('worker-2', { token: 2, acquired: 150 }).read('worker-2', 160, true),
      new HistoryBuilder().read('worker-1', 170, false),
    );
    expect(live.violations).to.equal(0);
  });
});
