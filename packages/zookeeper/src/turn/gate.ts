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

/** A queue in which the admitted client may run an operation of several requests alone. */
export interface Gate {
  readonly context: SessionContext;
  readonly location: DirectoryLocation;
  /** Aborts the wait for admission to the gate. The operation does not start after an abort. */
  readonly signal?: AbortSignal;
}

/**
 * Returns whether the queue of the gate was empty at the time of the transaction `zxid`.
 * `listing` is a list of the queue. It was requested after the transaction in the same session, so it shows the state after the transaction or a
 * later one. It contains the entries of the queue, and when a child was last created or deleted (`childrenZxid`). If the last change was before the
 * transaction, an empty list means that the queue was empty at the time of the transaction.
 * The result may be `false` although the queue was empty: if another client joined and left between transaction and list, or if the directory was
 * removed. A wrong `true` is impossible.
 */
export function wasEmptyAt(zxid: bigint, listing: Listing | undefined): boolean {
  if (!listing || listing.stat.childrenZxid >= zxid) return false;
  return contendersIn(listing.children, GATE).length === 0;
}

/**
 * Runs `work` while the gate, a queue for such operations, admits this client and no other. All requests of `work` come after the requests of the
 * client that was admitted before, and before those of the next client. Clients whose library has no transactions need this.
 * - The order does not depend on clocks, because the session that has the entry in the gate also sends the requests of `work`. A server executes the
 *   requests of a session in order, so the gate's entry is deleted after the last request of `work`. If the session expires, the server accepts
 *   nothing from it any more.
 * - `work` must not settle before all of its requests are sent.
 * - A wait of more than the session's TTL rejects with `UNAVAILABLE`, since by then the server has removed the entry of a client that died.
 * - The removal of the gate's entry is retried until it is confirmed; if the server refuses it, the session ends.
 * - If `work` rejects, some of its requests may have had an effect.
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
    // The caller need not wait until its entry is removed from the gate. An entry that remains for longer only
    // delays the next client.
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
