import { expect } from 'chai';
import type { RecordedHold } from '@queuelock/core';
import { recordedLine } from '../src/view/recorded-hold.ts';
import { parseLines, runCli } from './cli-process.ts';

const facts = { id: '0123456789abcdef', token: 7n, order: 7n, owner: 'vm:12', host: 'vm', pid: 12 };
const beganAt = new Date(2026, 0, 2, 3, 4, 5, 6).getTime();

describe('the text line for a recorded hold', () => {
  const line = (hold: object): string => recordedLine({ ...facts, beganAt, ...hold } as RecordedHold);

  it('shows when the hold began, its length, its end, its owner, the process and the token', () => {
    expect(line({ status: 'ended', reason: 'released', heldMs: 4_200 })).to.equal(
      '2026-01-02 03:04:05.006    4.2s  released           vm:12  token 7',
    );
    expect(line({ status: 'held', owner: 'importer' })).to.match(/ holds +importer \(vm 12\) {2}token 7$/);
  });

  it('shows who removed the entry, and the latest possible end if no end was recorded', () => {
    const eviction = { by: 'olga', reason: 'hangs' };
    expect(line({ status: 'ended', reason: 'entry-removed', heldMs: 1, eviction })).to.match(
      / entry-removed .* removed by olga: hangs$/,
    );
    expect(line({ status: 'unrecorded' })).to.match(/ no end recorded +vm:12 {2}token 7$/);
    expect(line({ status: 'unrecorded', endedAtLatest: beganAt })).to.match(
      / had ended by 2026-01-02 03:04:05.006$/,
    );
  });
});

describe('queuelock history', () => {
  it('reports that no hold is recorded when the queue has no records', async () => {
    const { code, stdout } = await runCli(['history', 'q', '--backend', 'memory:', '--json']);
    expect(code).to.equal(0);
    expect(parseLines(stdout).at(-1))
      .to.deep.include({ ev: 'gap' })
      .and.have.property('text')
      .that.matches(/no hold is recorded/);
    const refused = await runCli(['contend', 'q', '--backend', 'memory:', '--record', '101']);
    expect(refused).to.include({ code: 2 });
    expect(refused.stderr).to.match(/a whole number from 0 to 100/);
  });
});
