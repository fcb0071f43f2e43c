import { randomBytes } from 'node:crypto';
import { QueueLockError, isQueueLockError, repeatUntilDefinite } from '@queuelock/core/backend';
import { enqueueOne } from '../entry/enqueue-one.ts';
import type { Listing } from '../driver/driver.ts';
import { contendersIn } from '../queue/entries.ts';
import { OwnEntry } from '../entry/entry.ts';
import { DEFAULT_NAMING, schemeOf } from '../queue/naming.ts';
import type { SessionContext } from '../server/session-context.ts';
import type { DirectoryLocation } from '../queue/parents.ts';
import {
  filter,
  firstValueFrom,
  fromEvent,
  map,
  merge,
  throwError,
  timeout,
  type Observable,
} from '../base/rx.ts';
import { placementOf } from './turns.ts';

const GATE = schemeOf(DEFAULT_NAMING);

/** A queue for operations that need more than one request: the admitted client runs its operation alone. */
export interface Gate {
  readonly context: SessionContext;
  readonly location: DirectoryLocation;
  /** Aborts the wait. The work does not start after that. */
  readonly signal?: AbortSignal;
}

/**
 * Returns whether the gate was empty at the moment of a transaction. `listing` is a list of the gate that the same session requested later.
 *
 * A server executes the requests of a session in order. So the list is at least as recent as the transaction, even on a server that lags behind.
 * The list shows which clients are in the gate, and when a child was created or deleted last (`childrenZxid`). If that is older than the
 * transaction, nothing changed from then until the list, so an empty list means that the gate was empty. If another client came and left between
 * the transaction and the list, the result is `false` although the gate was empty at the transaction. The result is never wrongly `true`. The
 * same applies when the directory was removed.
 */
export function wasEmptyAt(zxid: bigint, listing: Listing | undefined): boolean {
  if (!listing || listing.stat.childrenZxid >= zxid) return false;
  return contendersIn(listing.children, GATE).length === 0;
}

/**
 * Runs work while no other client is in the gate. ZooKeeper can execute several steps in one transaction (`multi`), but the npm client
 * cannot request that. The gate provides an order instead: all requests of the work come after those of the client before, and ahead of
 * those of the next client. That does not depend on clocks or on a client that is alive. It depends on one session being both in the gate
 * and at work. A server executes the requests of a session in order, so the node in the gate is deleted after the last request of the work.
 * Once the node was removed with its session, the server accepts nothing from that session any more.
 *
 * The work must not settle before all of its requests are sent. A wait of more than the session's TTL rejects with `UNAVAILABLE`; by then,
 * a client that died in the gate was removed. Leaving is retried until it is confirmed; if the server refuses it, the session ends. If the
 * work rejects, a part of it may have been done.
 */
export async function throughGate<T>(
  { context, location, signal }: Gate,
  work: () => Promise<T>,
): Promise<T> {
  const id = randomBytes(16).toString('hex');
  const entry = new OwnEntry(context, { ...location, scheme: GATE }, { id, isResumed: false });
  try {
    signal?.throwIfAborted();
    await enterGate(context, entry, { id, signal, location });
    signal?.throwIfAborted();
    return await work();
  } finally {
    // The caller does not wait for the removal: staying in the gate longer does not violate the order.
    repeatUntilDefinite(() => entry.remove(), new AbortController().signal).catch(context.giveUp);
  }
}

interface GateEntry {
  readonly id: string;
  readonly location: DirectoryLocation;
  readonly signal: AbortSignal | undefined;
}

async function enterGate(context: SessionContext, entry: OwnEntry, gateEntry: GateEntry): Promise<void> {
  try {
    await waitForAdmission(context, entry, gateEntry);
  } catch (error) {
    gateEntry.signal?.throwIfAborted();
    throw isQueueLockError(error, 'ENTRY_LOST') ? removedFromGate(gateEntry.location, error) : error;
  }
}

async function waitForAdmission(
  context: SessionContext,
  entry: OwnEntry,
  { id, location, signal }: GateEntry,
): Promise<void> {
  const rule = { limit: 1 };
  const { timeoutMs } = context.zk;
  const position = await enqueueOne(entry, { queue: location.directory, id, shared: false, ...rule });
  const { turn, turns$ } = placementOf(context, { entry, position, rule });
  if (turn.admitted) return;
  signal?.throwIfAborted();
  const turn$ = turns$.pipe(
    filter(({ admitted }) => admitted),
    timeout({ first: timeoutMs, with: () => throwError(() => gateTimedOut(location, timeoutMs)) }),
  );
  await firstValueFrom(signal ? merge(turn$, aborted(signal)) : turn$, { defaultValue: undefined });
}

function aborted(signal: AbortSignal): Observable<never> {
  return fromEvent(signal, 'abort').pipe(
    map((): never => {
      throw signal.reason as Error;
    }),
  );
}

function gateTimedOut({ directory }: DirectoryLocation, afterMs: number): QueueLockError {
  const message = `the gate ${directory} was not free within ${afterMs} ms; nothing was done`;
  return new QueueLockError('UNAVAILABLE', message);
}

function removedFromGate({ directory }: DirectoryLocation, cause: Error): QueueLockError {
  const message = `the node that waited in the gate ${directory} was removed by another client; nothing was done`;
  return new QueueLockError('UNAVAILABLE', message, { cause });
}
