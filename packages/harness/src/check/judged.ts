import { expect } from 'chai';
import { check } from '../check.ts';
import { runOf } from './history.ts';
import type { Limits } from './limits.ts';
import type { Tale } from './tale.ts';

export const LIMITS: Limits = { crashMs: 6_000, crashInTroubleMs: 10_000, holdMs: 200 };

/** The rules that a tale breaks, once for each finding. */
export function rulesIn(tale: Tale, limits: Partial<Limits> = {}): string[] {
  return findingsIn(tale, limits).map(({ rule }) => rule);
}

export function messagesIn(tale: Tale, limits: Partial<Limits> = {}): string[] {
  return findingsIn(tale, limits).map(({ rule, message }) => `${rule}: ${message}`);
}

export function expectFine(tale: Tale, limits: Partial<Limits> = {}): void {
  expect(messagesIn(tale, limits)).to.deep.equal([]);
}

function findingsIn(tale: Tale, limits: Partial<Limits>) {
  return check(runOf(tale.events), { ...LIMITS, ...limits }).findings;
}
