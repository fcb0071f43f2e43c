import type { ClaimOptions, ClaimState, LockClient, Ownership } from '@queuelock/core';

type Queued = Extract<ClaimState, { status: 'queued' }>;

/** A claim that waits or holds. */
export interface Joined {
  readonly states: readonly ClaimState[];
  /** The latest state of the claim in which it waited in the queue. `undefined` if it never waited. */
  readonly queued: Queued | undefined;
  /** The ownership of the lock. `undefined` until the lock is granted. */
  readonly ownership: Ownership | undefined;
  /** Promise of the ownership. Rejects with the error that ended the claim before a grant. */
  readonly held: Promise<Ownership>;
  leave(): void;
}

/** Joins a queue. Resolves when the entry is stored, and rejects with the error that prevented it. */
export function join(client: LockClient, name: string, options: ClaimOptions = {}): Promise<Joined> {
  return new Promise((resolve, reject) => {
    const states: ClaimState[] = [];
    let queued: Queued | undefined;
    let ownership: Ownership | undefined;
    let grant!: (held: Ownership) => void;
    let refuse!: (error: unknown) => void;
    const held = new Promise<Ownership>((granted, refused) => {
      grant = granted;
      refuse = refused;
    });
    held.catch(() => undefined); // Marks a rejection as handled, because a test may not await the promise.
    const claim = client.claim(name, options).subscribe((state) => {
      states.push(state);
      if (state.status === 'queued') queued = state;
      if (state.status === 'held') {
        ownership = state.ownership;
        grant(state.ownership);
      }
      if (state.status === 'queued' || state.status === 'held') resolve(joined);
      if (state.status === 'ended') {
        const error = state.outcome === 'released' ? new Error('it was released') : state.error;
        refuse(error);
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    const joined: Joined = {
      states,
      held,
      leave: () => claim.unsubscribe(),
      get queued() {
        return queued;
      },
      get ownership() {
        return ownership;
      },
    };
  });
}
