import type { Rule } from '../src/run/rule.ts';
import type { Alteration } from '@queuelock/harness/alteration';

/**
 * A seeded defect of the product, such as a developer could make. A rule of the simulation must detect it.
 */
export interface Mutant {
  readonly what: string;
  /**
   * The rules of the simulation that may detect the defect. The first rule that a run with the defect breaks
   * must be one of them.
   */
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
