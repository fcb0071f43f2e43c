import { expect } from 'chai';
import { check } from '../check.ts';
import { runOf } from './history.ts';
import type { Limits } from './limits.ts';
import type { HistoryBuilder } from './history-builder.ts';

export const LIMITS: Limits = { crashMs: 6_000, crashInTroubleMs: 10_000, holdMs: 200 };

/**
 * Returns the id of the broken rule for each violation in a history. A rule that was broken several times
 * occurs several times.
 */
export function rulesIn(builder: HistoryBuilder, limits: Partial<Limits> = {}): string[] {
  return findingsIn(builder, limits).map(({ rule }) => rule);
}

export function messagesIn(builder: HistoryBuilder, limits: Partial<Limits> = {}): string[] {
  return findingsIn(builder, limits).map(({ rule, message }) => `${rule}: ${message}`);
}

export function expectFine(builder: HistoryBuilder, limits: Partial<Limits> = {}): void {
  expect(messagesIn(builder, limits)).to.deep.equal([]);
}

function findingsIn(builder: HistoryBuilder, limits: Partial<Limits>) {
  return check(runOf(builder.events), { ...LIMITS, ...limits }).findings;
}
