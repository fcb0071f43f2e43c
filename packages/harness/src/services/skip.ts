import type { Context } from 'mocha';
import { NotHere } from './service.ts';

/** Resolves with the result. If the promise rejects because something is not available, skips the test with the reason. */
export async function orSkip<T>(test: Context, promise: Promise<T>): Promise<T> {
  return promise.catch((error: unknown) => {
    if (!(error instanceof NotHere)) throw error;
    test['skipReason'] = error.message;
    return test.skip();
  });
}
