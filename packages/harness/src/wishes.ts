import { randomBytes } from 'node:crypto';
import type { EntrySpec, Placement, Turn } from '@queuelock/core/backend';

/** Of somebody who never gives up. */
export const { signal }: AbortController = new AbortController();

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

/** Resolves with the first turn that is admitted; rejects with the loss. */
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

/** Resolves with the code with which an entry is lost. */
export function lost({ turns$ }: Placement): Promise<string> {
  return new Promise((resolve) => {
    turns$.subscribe({ error: (error: unknown) => resolve((error as { readonly code: string }).code) });
  });
}
