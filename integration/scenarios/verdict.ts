import type { HistoryEvent } from '@queuelock/cli/src/demo/history.ts';
import { judge, type Verdict } from '@queuelock/cli/src/demo/judge.ts';
import { safely } from '@queuelock/conformance';
import { expect } from 'chai';

/** What the judge says of a history in which nobody held beside another, out of order, or with a token that was given before. */
export function safeVerdict(history: readonly HistoryEvent[]): Verdict {
  const verdict = judge(history);
  expectSafe(verdict);
  return verdict;
}

/** What else is wrong with it, somebody who was never served for instance, is for the caller to look at. */
export function expectSafe({ violations }: Pick<Verdict, 'violations'>): void {
  safely(() => expect(violations.filter(({ rule }) => rule !== 'progress')).to.deep.equal([]));
}
