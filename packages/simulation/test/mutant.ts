import type { Rule } from '../src/run/rule.ts';
import type { Alteration } from '@queuelock/harness/alteration';

/** A plausible defect. */
export interface Mutant {
  readonly what: string;
  /** Rules that may detect it first. */
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
