import { expect } from 'chai';
import { expectSafe } from '../../../integration/scenarios/verdict.ts';
import type { Verdict } from '../src/demo/judge.ts';
import { parseLines, runCli, type Ending, type Line } from './cli-process.ts';

/**
 * Runs the demo with four contenders and checks its history: no two holds overlap, one contender crashes, one
 * leaves the queue before a grant, and the other two hold and release the lock.
 */
export async function expectGoodDemo(): Promise<Ending> {
  const ending = await runCli(['demo', '--json', '--contenders', '4', '--rounds', '1']);
  const { code, stdout, stderr } = ending;
  expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  const lines = parseLines(stdout);
  const verdict = lines.at(-1) as Line & Verdict;
  expectSafe(verdict);
  const counts = { served: 2, cancelled: 1, expired: 1, grants: 3 };
  expect(verdict).to.deep.include({ ev: 'verdict', ok: true, violations: [], ...counts });
  const crashed = lines.findIndex(({ ev }) => ev === 'crashed');
  const expired = lines.findIndex(({ ev }) => ev === 'expired');
  expect(crashed).to.be.greaterThan(0);
  expect(expired).to.be.greaterThan(crashed);
  return ending;
}
