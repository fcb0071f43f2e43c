import type { Stream } from './stream.ts';

/**
 * Calls `onReset` of all streams, also if it throws for some of them.
 * @throws the error of a stream, or an `AggregateError` if several streams have thrown
 */
export function resetAll(streams: readonly Stream[], code: number): void {
  const errors: unknown[] = [];
  for (const stream of streams) {
    try {
      stream.onReset(code);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 1) throw new AggregateError(errors, 'several calls threw errors when they were ended');
  if (errors.length > 0) throw errors[0];
}
