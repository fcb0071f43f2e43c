import { randomBytes } from 'node:crypto';
import type { EntrySpec, Placement, Turn } from '@queuelock/core/backend';

/** A signal that never aborts. */
export const { signal }: AbortController = new AbortController();

/** Returns the properties of a new exclusive entry, with a random id. */
export function newSpec(more: Partial<EntrySpec> = {}): EntrySpec {
  return { queue: 'jobs', id: randomBytes(16).toString('hex'), shared: false, limit: 1, ...more };
}

/** Resolves with the error of a call that the test expects to reject. */
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

/**
 * Resolves with the first turn that reports an entry as admitted. Rejects with the error that reports the
 * loss of the entry.
 */
export function admitted({ turns$ }: Placement): Promise<Turn> {
  return new Promise((resolve, reject) => {
    const following = turns$.subscribe({
      next: (turn) => {
        if (!turn.admitted) return;
        resolve(turn);
        setImmediate(() => following.unsubscribe());
      },
      error: reject,
    });
  });
}

/** Resolves with the code of the error that reports the loss of an entry. */
export function lost({ turns$ }: Placement): Promise<string> {
  return new Promise((resolve) => {
    turns$.subscribe({ error: (error: unknown) => resolve((error as { readonly code: string }).code) });
  });
}
