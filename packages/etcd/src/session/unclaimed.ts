import { evict, type QueueAccess } from '../entry/evict.ts';
import type { Entry } from '../entry/entry.ts';
import { entriesIn } from '../queue/keys.ts';

/** A resumed session, and the entries of that session which this process has requested. */
export interface ResumedSession extends QueueAccess {
  readonly lease: string;
  /** The revision at which the session was resumed; 0 if this process opened it. */
  readonly resumedAt: bigint;
  /** The entries that this process has requested, even if a request is still in flight. */
  readonly claimed: ReadonlyMap<string, Entry>;
}

/** Removes the entries of a resumed session that this process has not enqueued again. The server lists the keys of the session's lease. */
export async function removeUnclaimed(session: ResumedSession): Promise<void> {
  const { connection, lease, prefix, resumedAt, claimed } = session;
  if (resumedAt === 0n) return;
  const request = { ID: lease, keys: true };
  const { keys } = await connection.call('listing the keys of a session', (etcd, options) =>
    etcd.leaseTimeToLive(request, options),
  );
  const isClaimed = (entry: { readonly queue: string; readonly keyId: string }): boolean =>
    [...claimed.values()].some(({ queue, keyId }) => queue === entry.queue && keyId === entry.keyId);
  for (const entry of entriesIn(keys, { prefix, lease }))
    if (!isClaimed(entry)) await removeInherited(session, entry);
}

/** Removes an entry of the resumed session, but only if it was created before this process resumed the session. */
async function removeInherited(
  { resumedAt, ...access }: ResumedSession,
  { queue, key }: { readonly queue: string; readonly key: Buffer },
): Promise<void> {
  const request = { key, keys_only: true, max_create_revision: resumedAt.toString() };
  const { kvs } = await access.connection.ask('reading an entry', (etcd, options) =>
    etcd.range(request, options),
  );
  const order = kvs[0]?.create_revision;
  if (order !== undefined) await evict(access, { queue, key: key.toString(), order: BigInt(order) });
}
