import type { HistoryEvent } from '@queuelock/cli/src/demo/history.ts';
import { judge, type Verdict } from '@queuelock/cli/src/demo/judge.ts';
import { safely } from '@queuelock/conformance';
import { expect } from 'chai';

/** Returns the verdict on a history, and expects no overlap, no grant out of order, and no repeated token. */
export function safeVerdict(history: readonly HistoryEvent[]): Verdict {
  const verdict = judge(history);
  expectSafe(verdict);
  return verdict;
}

/**
 * Expects no violation of exclusion, order or tokens. Other violations, for instance a contender that was
 * never granted, are left to the caller.
 */
export function expectSafe({ violations }: Pick<Verdict, 'violations'>): void {
  safely(() => expect(violations.filter(({ rule }) => rule !== 'progress')).to.deep.equal([]));
}
