import type { AcquireOptions, LockClient, Ownership } from '@queuelock/core';

/** A claim that waits or already holds. */
export interface Place {
  readonly key: string;
  readonly order: bigint;
  /**
   * Resolves with the hold when the claim is granted. Rejects with the error that ended the claim before its
   * grant.
   */
  readonly held: Promise<Ownership>;
  /** Ends the claim, whether it waits or holds. */
  leave(): void;
}

/** Joins a queue. Resolves when the entry is in the queue. Rejects with the error that prevented it. */
export function join(client: LockClient, name: string, options: AcquireOptions = {}): Promise<Place> {
  return new Promise((resolve, reject) => {
    let granted!: (ownership: Ownership) => void;
    let refused!: (error: unknown) => void;
    const held = new Promise<Ownership>((grant, refuse) => {
      granted = grant;
      refused = refuse;
    });
    // Marks the rejection as handled, because a test may await the promise later or not at all.
    held.catch(() => undefined);
    const claim = client.claim(name, options).subscribe((state) => {
      if (state.status === 'queued') placed(state);
      if (state.status === 'held') {
        placed(state.ownership);
        granted(state.ownership);
      }
      if (state.status === 'ended') {
        const error = state.outcome === 'released' ? new Error('it was released') : state.error;
        refused(error);
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    function placed({ key, order }: Pick<Place, 'key' | 'order'>): void {
      resolve({ key, order, held, leave: () => claim.unsubscribe() });
    }
  });
}
