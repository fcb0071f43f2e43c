import { randomBytes } from 'node:crypto';
import type { EntrySpec } from '@queuelock/core/backend';

/** An exclusive wish with a new id. */
export function wish(more: Partial<EntrySpec> = {}): EntrySpec {
  return { queue: 'jobs', id: randomBytes(16).toString('hex'), shared: false, limit: 1, ...more };
}

/** What a call that has to fail says. */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ readonly code: string; readonly message: string }> {
  try {
    await call;
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error('it was not refused');
}
