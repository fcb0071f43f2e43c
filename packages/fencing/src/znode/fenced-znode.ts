import { invalidArgument, QueueLockError } from '@queuelock/core/backend';
import { MAX_INT64, tokenOf, type FencingHold } from '../hold.ts';
import { refusedBy, type FenceOutcome } from '../outcome.ts';
import type { ZnodeClient } from './client.ts';
import { decodeFencedData, encodeFencedData } from './data.ts';

/**
 * A znode that refuses writes of an earlier holder after a write of a later holder. The promises of its methods resolve with the refusal;
 * `expectAccepted(node.write(data))` rejects instead. The promises reject with `INVALID_ARGUMENT` when the node does not exist or has data without a
 * token.
 */
export interface FencedZnode {
  /**
   * Writes the token of the hold into the node and keeps the node's data. Call it directly after the lock was
   * acquired. From then on every earlier holder is refused, even one whose write is in flight.
   */
  claim(): Promise<FenceOutcome>;
  /** Replaces the data of the node, unless a later holder has written it. */
  write(data: Uint8Array | string): Promise<FenceOutcome>;
  /**
   * Replaces the data of the node by the result of `change`. `change` may be called more than once, such as
   * after a concurrent write; its last result counts.
   */
  update(change: (data: Uint8Array) => Uint8Array | string): Promise<FenceOutcome>;
}

/**
 * Returns access to a node of ZooKeeper whose data contains the token of its last writer. Every write reads
 * the token and the version of the node. It is refused if the token of the node is larger than that of the
 * hold. Otherwise it changes the node if the node still has the same version, and starts again if another
 * write came between.
 *
 * The node must exist, empty or with the data of `encodeFencedData`. It must not be deleted, because the
 * versions and tokens of a new node would begin again at their lowest values. Every writer must use this
 * function.
 *
 * A rejection (`UNAVAILABLE`) leaves open whether the write happened. Repeating it is safe: of a write in
 * flight and its repetition, only one finds the expected version. `update` may then see its own change; keep
 * a counter in the data if that matters.
 */
export function fencedZnode(client: ZnodeClient, path: string, hold: FencingHold<'token'>): FencedZnode {
  const token = tokenOf(hold, MAX_INT64);
  if (typeof path !== 'string' || !/^\/./s.test(path)) throw invalidArgument('path', path, 'begins with /');

  async function update(change: (data: Uint8Array) => Uint8Array | string): Promise<FenceOutcome> {
    // Checks the hold again, because the lock may have been downgraded to a read lock since the last call.
    tokenOf(hold, MAX_INT64);
    for (;;) {
      const node = await client.get(path);
      if (node === undefined) throw missingZnode(path);
      const current = decodeFencedData(node.data);
      if (current.token > token) return refusedBy(`the znode ${path}`, hold, current.token);
      const bytes = encodeFencedData(change(current.data), token);
      if (await client.set(path, bytes, node.version)) return { outcome: 'accepted' };
    }
  }

  return {
    claim: () => update((data) => data),
    write: (data) => update(() => data),
    update,
  };
}

function missingZnode(path: string): QueueLockError {
  return new QueueLockError(
    'INVALID_ARGUMENT',
    `there is no znode ${path}; create it once, with the data of encodeFencedData, and never delete it`,
  );
}
