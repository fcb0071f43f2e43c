import { expect } from 'chai';
import { check } from '@queuelock/harness/check';
import { LIMITS } from '@queuelock/harness/check/judged';
import { HistoryBuilder } from '@queuelock/harness/check/history-builder';
import { runOf } from '@queuelock/harness/check/history';
import { reportOf } from './report.ts';

const twoAtOnce = new HistoryBuilder()
  .worker('a', 0)
  .worker('b', 0)
  .attempt('a', { queue: 'q', token: 1, queued: 10, acquired: 20, released: 100 })
  .attempt('b', { queue: 'q', token: 2, queued: 30, acquired: 99, released: 150 })
  .close(300, 'a', 'b').events;

describe('the report of a run', () => {
  const options = { title: 'a *run*', command: 'pnpm chaos --seed 7', seed: 7, ran: ['etcd 3.4.23'] };

  it('states how to repeat the run, on which servers it ran, and that no violation was found', () => {
    const run = runOf(new HistoryBuilder().worker('a', 0).close(300, 'a').events);
    const report = reportOf(run, check(run, LIMITS), { ...options, snapshot: 'my run.svg' });
    expect(report).to.contain('pnpm chaos --seed 7').and.contain('- Seed: 7').and.contain('- etcd 3.4.23');
    expect(report)
      .to.contain('No violation was found.')
      .and.contain('(my%20run.svg)')
      .and.contain('a \\*run\\*');
  });
  it('shows each violation with the events around it, timed in seconds from the start of the run', () => {
    const run = runOf(twoAtOnce);
    const verdict = check(run, LIMITS);
    const grant = twoAtOnce.find((event) => event.who === 'b' && event.ev === 'acquired');
    const findings = verdict.findings.map((finding) => ({ ...finding, events: [grant!] }));
    const report = reportOf(run, { ...verdict, findings }, options);
    expect(report).to.contain('**Violations found: 1.**').and.contain('### S2 in queue');
    expect(report).to.match(/> 0\.109000000 b acquired .*token=2/);
  });
  it('keeps the command within its Markdown code block, even if the command contains three backticks', () => {
    const run = runOf(new HistoryBuilder().worker('a', 0).close(300, 'a').events);
    const report = reportOf(run, check(run, LIMITS), { ...options, command: 'a\n```\n# b' });
    expect(report).to.contain('````\na\n```\n# b\n````');
  });
});
