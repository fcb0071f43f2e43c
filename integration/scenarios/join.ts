import type { AcquireOptions, LockClient, Ownership } from '@queuelock/core';

/** A claim that stands in line, or holds already. */
export interface Place {
  readonly key: string;
  readonly order: bigint;
  /** Rejects with what ended the claim before its turn. */
  readonly held: Promise<Ownership>;
  /** Gives the place up, whatever it is. */
  leave(): void;
}

/** Joins a queue; answers when the entry stands in it. Rejects with what kept it from that. */
export function join(client: LockClient, name: string, options: AcquireOptions = {}): Promise<Place> {
  return new Promise((resolve, reject) => {
    let granted!: (ownership: Ownership) => void;
    let refused!: (error: unknown) => void;
    const held = new Promise<Ownership>((grant, refuse) => {
      granted = grant;
      refused = refuse;
    });
    // A test may look at it later, or not at all.
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
