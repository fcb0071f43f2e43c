import { subscribedByCaller } from '../base/caller-context.ts';

import type { ClaimOptions } from '../api/options.ts';
import { isObservable, map, type Observable } from '../base/rx.ts';

/** The limit of a claim: a fixed number of permits, or a stream of numbers. */
export type Limit =
  | { readonly fixed: number }
  | { readonly fixed: undefined; readonly now$: Observable<number> };

/**
 * Returns the limit of a claim.
 * @param check returns the validated number, or throws
 */
export function limitOf({ limit: given$ = 1 }: ClaimOptions, check: (limit: number) => number): Limit {
  if (typeof given$ !== 'number' && isObservable(given$))
    return { fixed: undefined, now$: subscribedByCaller(given$.pipe(map(check))) };
  return { fixed: check(given$) };
}
