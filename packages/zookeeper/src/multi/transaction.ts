import { QueueLockError } from '@queuelock/core/backend';
import type { Step, ZkDriver } from '../driver/driver.ts';
import { listAfterCreate, newNode, locate } from '../entry/enqueue.ts';
import { privateNodeLost } from '../driver/errors.ts';
import { wasEmptyAt, type Gate } from '../turn/gate.ts';
import { privatePath } from '../queue/names.ts';
import { makeDirectory } from '../queue/parents.ts';
import { allSettled } from '../base/all-settled.ts';
import type { EntryRequest, MemberPosition } from './entry-request.ts';

/** A driver that can create several entries in one transaction. */
export type TransactionDriver = ZkDriver & Required<Pick<ZkDriver, 'multi'>>;

/** The entries that one transaction created. */
export interface TransactionEnqueue {
  readonly positions: readonly MemberPosition[];
  /** Whether the gate (a queue of enqueuing clients, see `gate.ts`) was empty when the transaction was executed. */
  readonly wasGateEmpty: boolean;
}

// Maximum number of attempts. A directory that was created for the transaction may disappear before it, since
// the server removes empty containers.
const ATTEMPTS = 10;

export function hasTransactions(zk: ZkDriver): zk is TransactionDriver {
  return zk.multi !== undefined;
}

/**
 * Creates all entries in one transaction. In the same packet, requests a list of each queue, and a list of the gate: a queue of the clients that
 * enqueue their entries one by one (`gate.ts`).
 * - The transaction also writes to the session's private node, because only the reply to a write contains the transaction id. That id is the fencing
 *   token of all these entries.
 * - The transaction id also shows whether the gate was empty at the time of the transaction (see `wasEmptyAt`).
 * - The transaction fails unless the gate's directory exists.
 */
export async function enqueueInTransaction(
  zk: TransactionDriver,
  members: readonly EntryRequest[],
  { context, location: gate, signal }: Gate,
): Promise<TransactionEnqueue> {
  const ownNode = privatePath(gate.root, zk.sessionId);
  const locations = members.map(({ entry }) => entry.location);
  const steps: readonly Step[] = [
    { type: 'check', path: gate.directory },
    { type: 'write', path: ownNode, text: '' },
    ...members.map(({ entry, spec }): Step => ({ type: 'create', ...newNode(entry.location, spec) })),
  ];
  for (let count = 1; count <= ATTEMPTS; count += 1) {
    signal?.throwIfAborted();
    for (const { entry } of members) entry.markAttempted();
    const [done, inGate, lists] = await Promise.all([
      // Records the node of each entry as soon as the transaction is done, because the requests for the lists
      // may fail.
      zk.multi(steps).then((result) => {
        const { paths = [], zxid: czxid = 0n } = result.done ? result : {};
        for (const [at, { entry }] of members.entries()) {
          const path = paths[at];
          entry.markCreated(path === undefined ? undefined : { path, czxid });
        }
        return result;
      }),
      zk.list(gate.directory),
      Promise.all(locations.map((location) => listAfterCreate(context, location))),
    ]);
    if (done.done) {
      const { paths, zxid: czxid = 0n } = done;
      const positions = members.map(async (member, at) => {
        const created = { made: { path: paths[at] ?? '', czxid }, children: lists[at] };
        const { location } = member.entry;
        const position = await locate(context, { location, spec: member.spec }, created);
        return { member, position };
      });
      return { positions: await allSettled(positions), wasGateEmpty: wasEmptyAt(czxid, inGate) };
    }
    if (steps[done.at]?.path === ownNode) throw privateNodeLost(ownNode);
    await allSettled([gate, ...locations].map((location) => makeDirectory(zk, location)));
  }
  throw new QueueLockError(
    'UNAVAILABLE',
    `${locations[0]?.directory}, or the directory of a queue beside it, was removed repeatedly during the enqueue`,
  );
}
