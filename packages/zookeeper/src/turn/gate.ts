import { randomBytes } from 'node:crypto';
import { QueueLockError, isQueueLockError, repeatUntilDefinite } from '@queuelock/core/backend';
import { enterAlone } from '../entry/alone.ts';
import type { Listing } from '../driver/driver.ts';
import { contendersIn } from '../queue/entries.ts';
import { OwnEntry } from '../entry/entry.ts';
import { DEFAULT_NAMING, schemeOf } from '../queue/naming.ts';
import type { SessionContext } from '../server/session-context.ts';
import type { Place } from '../queue/parents.ts';
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

/** A queue for the steps that take more than one request: whose turn it is makes them alone. */
export interface Gate {
  readonly context: SessionContext;
  readonly place: Place;
  /** Gives up waiting; the work is not begun after it. */
  readonly signal?: AbortSignal;
}

/**
 * Whether nobody was in the gate at the moment of this transaction, by a list of it that the same session asked for later.
 *
 * A server answers a session in order, so the list is no older than the transaction, however far behind the leader that server is. It shows
 * who is in, and when anybody came or went last (`childrenZxid`): if that is older than the transaction, then from before it until
 * the list nobody did either, and nobody in the list is nobody then. Whoever came and went in between makes the answer a
 * `false` that was not necessary, never a wrong `true`; so does a directory that is gone.
 */
export function wasEmptyAt(zxid: bigint, listing: Listing | undefined): boolean {
  if (!listing || listing.stat.childrenZxid >= zxid) return false;
  return contendersIn(listing.children, GATE).length === 0;
}

/**
 * Works while nobody else is in the gate. ZooKeeper can do several things in one step (`multi`), and the npm client cannot ask for
 * it. What a gate gives instead is an order: all requests of the work come after those of whoever was in before and ahead
 * of those of whoever comes next. It does not rest on clocks or on a client that is alive, but on one session being both in the gate
 * and at work: a server takes the requests of a session in their order, so the node in the gate is deleted after the last request
 * of the work, and once it has gone with its session the server takes nothing from that session any more.
 *
 * The work must not settle before all of its requests are on their way. A wait of more than the session's time to live is
 * given up with `UNAVAILABLE`, and whoever is dead in the gate is out by then. Leaving is repeated until it is certain; where
 * it is refused the session ends. If the work rejects, a part of it may have been done.
 */
export async function throughGate<T>({ context, place, signal }: Gate, work: () => Promise<T>): Promise<T> {
  const id = randomBytes(16).toString('hex');
  const entry = new OwnEntry(context, { ...place, scheme: GATE }, { id, isResumed: false });
  try {
    signal?.throwIfAborted();
    await untilTurn(context, entry, { id, signal, place });
    signal?.throwIfAborted();
    return await work();
  } finally {
    // Nobody waits for it: to be in for a little longer spoils no order.
    repeatUntilDefinite(() => entry.remove(), new AbortController().signal).catch(context.giveUp);
  }
}

interface Ticket {
  readonly id: string;
  readonly place: Place;
  readonly signal: AbortSignal | undefined;
}

async function untilTurn(context: SessionContext, entry: OwnEntry, ticket: Ticket): Promise<void> {
  try {
    await waitInLine(context, entry, ticket);
  } catch (error) {
    ticket.signal?.throwIfAborted();
    throw isQueueLockError(error, 'ENTRY_LOST') ? thrownOut(ticket.place, error) : error;
  }
}

async function waitInLine(
  context: SessionContext,
  entry: OwnEntry,
  { id, place, signal }: Ticket,
): Promise<void> {
  const rule = { limit: 1 };
  const { timeoutMs } = context.zk;
  const position = await enterAlone(entry, { queue: place.directory, id, shared: false, ...rule });
  const { turn, turns$ } = placementOf(context, { entry, position, rule });
  if (turn.admitted) return;
  signal?.throwIfAborted();
  const turn$ = turns$.pipe(
    filter(({ admitted }) => admitted),
    timeout({ first: timeoutMs, with: () => throwError(() => crowded(place, timeoutMs)) }),
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

function crowded({ directory }: Place, afterMs: number): QueueLockError {
  const message = `the gate ${directory} was not free within ${afterMs} ms; nothing was done`;
  return new QueueLockError('UNAVAILABLE', message);
}

function thrownOut({ directory }: Place, cause: Error): QueueLockError {
  const message = `the node that waited in the gate ${directory} was removed by somebody else; nothing was done`;
  return new QueueLockError('UNAVAILABLE', message, { cause });
}
