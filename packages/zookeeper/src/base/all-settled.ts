import { isDefinite } from '@queuelock/core/backend';

/**
 * Works as `Promise.all`, but rejects only after all promises have settled. If several reject, it rejects
 * with a definite error if there is one.
 */
export async function allSettled<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(promises);
  const reasons = results.flatMap((result): unknown[] =>
    result.status === 'rejected' ? [result.reason] : [],
  );
  if (reasons.length > 0) throw reasons.find(isDefinite) ?? reasons[0];
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}
