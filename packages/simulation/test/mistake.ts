import type { Rule } from '../src/run/judge.ts';
import type { Alteration } from '@queuelock/harness/alteration';

/** A mistake that somebody could make. */
export interface Mistake {
  readonly what: string;
  /** The rules that may notice it first. */
  readonly noticedBy: readonly Rule[];
  readonly alterations: readonly Alteration[];
}

export function mistake(
  what: string,
  noticedBy: Rule | readonly Rule[],
  ...alterations: readonly Alteration[]
): Mistake {
  return { what, noticedBy: [noticedBy].flat(), alterations };
}
