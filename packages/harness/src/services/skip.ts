import type { Context } from 'mocha';
import { NotHere } from './service.ts';

/**
 * Resolves with the result of the promise. If it rejects with NotHere, because something is missing on this
 * machine, the test is skipped with that reason.
 */
export async function orSkip<T>(test: Context, promise: Promise<T>): Promise<T> {
  return promise.catch((error: unknown) => {
    if (!(error instanceof NotHere)) throw error;
    test['skipReason'] = error.message;
    return test.skip();
  });
}
