import { invalidArgument, QueueLockError } from '@queuelock/core/backend';
import { MAX_INT64, tokenOf, type FencingHold } from '../hold.ts';
import { refusedAt, type FenceOutcome } from '../outcome.ts';
import type { ZnodeClient } from './client.ts';
import { decodeFencedData, encodeFencedData } from './data.ts';

/**
 * A znode that takes no write of an earlier holder once a later one was there. A refusal is an answer: `expectAccepted(node.write(data))`
 * rejects with it instead. A node that is not there, or holds something else, rejects with `INVALID_ARGUMENT`.
 */
export interface FencedZnode {
  /**
   * Puts the own token into the node and leaves its data. Do this first, when the lock was acquired: from then on every
   * earlier holder is shut out, also one whose write is on its way.
   */
  claim(): Promise<FenceOutcome>;
  /** Replaces the data. */
  write(data: Uint8Array | string): Promise<FenceOutcome>;
  /** Replaces the data by what `change` makes of it. `change` may be asked more than once; the last answer counts. */
  update(change: (data: Uint8Array) => Uint8Array | string): Promise<FenceOutcome>;
}

/**
 * A node whose data carries the token of its last writer. Every write reads token and version, gives up if the token is
 * larger than the own one, and writes with that version; if another write came between, it reads again.
 *
 * The node has to exist (with no data, or with that of `encodeFencedData`) and must not be deleted: versions and tokens
 * would start again. Every writer has to write this way.
 *
 * A rejection (`UNAVAILABLE`) leaves open whether the write happened. Writing again is safe: of a write that is still on its way
 * and its repetition only one finds the version. `update` may then see its own change; keep a counter in the data
 * if that matters.
 */
export function fencedZnode(client: ZnodeClient, path: string, hold: FencingHold<'token'>): FencedZnode {
  const token = tokenOf(hold, MAX_INT64);
  if (typeof path !== 'string' || !/^\/./s.test(path)) throw invalidArgument('path', path, 'begins with /');

  async function update(change: (data: Uint8Array) => Uint8Array | string): Promise<FenceOutcome> {
    // It may be downgraded meanwhile, to a read lock.
    tokenOf(hold, MAX_INT64);
    for (;;) {
      const node = await client.get(path);
      if (node === undefined) throw absent(path);
      const seen = decodeFencedData(node.data);
      if (seen.token > token) return refusedAt(`the znode ${path}`, hold, seen.token);
      const bytes = encodeFencedData(change(seen.data), token);
      if (await client.set(path, bytes, node.version)) return { outcome: 'accepted' };
    }
  }

  return {
    claim: () => update((data) => data),
    write: (data) => update(() => data),
    update,
  };
}

function absent(path: string): QueueLockError {
  return new QueueLockError(
    'INVALID_ARGUMENT',
    `there is no znode ${path}; create it once, with the data of encodeFencedData, and never delete it`,
  );
}
