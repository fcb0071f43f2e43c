import type { Context } from 'mocha';
import { NotHere } from './service.ts';

/** What it resolves with; where something cannot be had that it needs, the test is skipped, and says so. */
export async function orSkip<T>(test: Context, promise: Promise<T>): Promise<T> {
  return promise.catch((error: unknown) => {
    if (!(error instanceof NotHere)) throw error;
    test['skipReason'] = error.message;
    return test.skip();
  });
}
