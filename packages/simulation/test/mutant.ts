import type { Rule } from '../src/run/rule.ts';
import type { Alteration } from '@queuelock/harness/alteration';

/** A seeded, plausible defect that a rule must detect. */
export interface Mutant {
  readonly what: string;
  /** The rules that may detect the mutant first. */
  readonly killedBy: readonly Rule[];
  readonly alterations: readonly Alteration[];
}

export function mutant(
  what: string,
  killedBy: Rule | readonly Rule[],
  ...alterations: readonly Alteration[]
): Mutant {
  return { what, killedBy: [killedBy].flat(), alterations };
}
