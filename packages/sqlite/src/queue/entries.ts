import { requireSameEntry, type EntryShape, type EntrySpec } from '@queuelock/core/backend';
import type { QueuedEntry } from './admissions.ts';
import type { Database, Statement } from '../driver/driver.ts';
import { QueueOrder, type LastEntry } from './queue-order.ts';
import { storedBytes, storedWhole } from './stored.ts';
import { bytesOf, textOf } from '../base/text.ts';

/** The position of an entry in its queue, and whether it is admitted, at the time of a step. */
export interface EntryPosition {
  readonly ord: number;
  readonly admitted: boolean;
  readonly ahead?: number;
  readonly otherLimit?: number;
}

interface Row extends QueuedEntry {
  readonly nth: number;
}

interface EnqueueRequest {
  readonly session: number;
  readonly spec: EntrySpec;
  readonly queue: Uint8Array;
}

/** Called for each entry that a step has admitted or removed. */
export type NotifyEntry = (session: number, ord: number) => void;

/**
 * The table of entries. Every method that changes the table also admits the entries that can be admitted then. All methods except `isStuck` must be
 * called within a step.
 */
export class Entries {
  readonly #notify: NotifyEntry;
  readonly #order: QueueOrder;
  readonly #byId: Statement;
  readonly #elsewhere: Statement;
  readonly #nextOrd: Statement;
  readonly #insert: Statement;
  readonly #setLimit: Statement;
  readonly #setValue: Statement;
  readonly #setShared: Statement;
  readonly #delete: Statement;
  readonly #ofSession: Statement;

  constructor(db: Database, notify: NotifyEntry) {
    this.#notify = notify;
    this.#order = new QueueOrder(db, notify);
    this.#byId = db.prepare(
      'select ord, shared, lim, permits, admitted, nth from entry where session = ? and id = ? and queue = ?',
    );
    this.#elsewhere = db.prepare(
      'select queue, shared, permits from entry where session = ? and id = ? and queue <> ?',
    );
    this.#nextOrd = db.prepare('update boot set last = last + 1 returning last');
    this.#insert = db.prepare(
      'insert into entry (queue, ord, id, session, shared, lim, permits, admitted, nth, value) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    );
    this.#setLimit = db.prepare('update entry set lim = ? where queue = ? and ord = ?');
    this.#setValue = db.prepare('update entry set value = ? where queue = ? and ord = ?');
    this.#setShared = db.prepare('update entry set shared = 1, value = ? where queue = ? and ord = ?');
    this.#delete = db.prepare('delete from entry where queue = ? and ord = ? returning session');
    this.#ofSession = db.prepare('select ord, queue from entry where session = ?');
  }

  /** Enqueues an entry. If an entry with this id is already in the queue, returns its position. */
  enqueue(session: number, spec: EntrySpec): EntryPosition {
    const request = { session, spec, queue: bytesOf(spec.queue) };
    return this.#existing(request) ?? this.#insertEntry(request);
  }

  /**
   * Adds an entry only if it is admitted at once. Returns its position, or `undefined` if it would have to
   * wait.
   */
  enqueueIfAdmitted(session: number, spec: EntrySpec): EntryPosition | undefined {
    const request = { session, spec, queue: bytesOf(spec.queue) };
    const known = this.#find(request);
    if (known) return known.admitted ? this.#existing(request) : undefined;
    const last = this.#order.last(request.queue);
    return this.#order.isFree(request.queue, spec, last) ? this.#insertEntry(request, last) : undefined;
  }

  /** Returns the order number of an entry. */
  find(session: number, { queue, id }: Pick<EntrySpec, 'queue' | 'id'>): number | undefined {
    return rowFrom(this.#byId.get(session, id, bytesOf(queue)))?.ord;
  }

  setValue(queue: string, ord: number, value: string): void {
    this.#setValue.run(bytesOf(value), bytesOf(queue), ord);
  }

  share(queue: string, ord: number, value: string): void {
    this.#setShared.run(bytesOf(value), bytesOf(queue), ord);
    this.#order.admitNext(bytesOf(queue));
  }

  /** Removes an entry and notifies its owner. Returns `false` if it does not exist. */
  remove(queue: string, ord: number): boolean {
    const bytes = bytesOf(queue);
    const row = this.#delete.get(bytes, ord) as { readonly session: number } | undefined;
    if (!row) return false;
    this.#notify(row.session, ord);
    this.#order.admitNext(bytes);
    return true;
  }

  /** Returns the entries of a session in all queues. */
  of(session: number): readonly { readonly queue: string; readonly ord: number }[] {
    return this.#rowsOf(session).map(({ ord, queue }) => ({ ord, queue: textOf(queue) }));
  }

  /**
   * Removes all entries of a session. Admits waiters only after the last removal, because otherwise an entry of the same session could be
   * admitted.
   */
  removeAllOf(session: number): void {
    const rows = this.#rowsOf(session);
    for (const { queue, ord } of rows) {
      this.#notify(session, ord);
      this.#delete.run(queue, ord);
    }
    const queues = new Map(rows.map(({ queue }) => [textOf(queue), queue]));
    for (const queue of queues.values()) this.#order.admitNext(queue);
  }

  /** Returns whether an entry waits although nothing ahead blocks it. */
  isStuck(queue: string): boolean {
    return this.#order.isStuck(bytesOf(queue));
  }

  /** Admits waiters that nothing ahead blocks any more, for instance after an operator deleted an entry with other tools. */
  admitMissed(queue: string): void {
    this.#order.admitNext(bytesOf(queue));
  }

  #rowsOf(session: number): readonly { readonly ord: number; readonly queue: Uint8Array }[] {
    return this.#ofSession.all(session) as readonly { ord: number; queue: Uint8Array }[];
  }

  #find({ session, spec, queue }: EnqueueRequest): Row | undefined {
    const { id } = spec;
    const known = rowFrom(this.#byId.get(session, id, queue));
    if (known) requireSameEntry(shapeOf({ ...known, queue }), spec);
    return known;
  }

  /** Throws if the session already has an entry with this id in another queue. */
  #refuseElsewhere({ session, spec, queue }: EnqueueRequest): void {
    const other = this.#elsewhere.get(session, spec.id, queue) as StoredShape | undefined;
    if (other) requireSameEntry(shapeOf(other), spec);
  }

  #existing(request: EnqueueRequest): EntryPosition | undefined {
    const { spec, queue } = request;
    const known = this.#find(request);
    if (!known || known.lim === spec.limit) return known && this.#position(request, known);
    this.#setLimit.run(spec.limit, queue, known.ord);
    this.#order.admitNext(queue);
    return this.#position(request, this.#find(request) ?? known);
  }

  #insertEntry(
    request: EnqueueRequest,
    last: LastEntry | undefined = this.#order.last(request.queue),
  ): EntryPosition {
    this.#refuseElsewhere(request);
    const { session, spec, queue } = request;
    const { id, shared, limit, permits = 1, value = '' } = spec;
    const ord = storedWhole((this.#nextOrd.get() as { readonly last: unknown }).last, 'boot.last', 1);
    const admitted = Number(this.#order.isFree(queue, spec, last));
    const nth = (last?.nth ?? 0) + 1;
    const own = { ord, shared: Number(shared), lim: limit, permits, admitted, nth };
    this.#insert.run(queue, ord, id, session, own.shared, limit, permits, admitted, nth, bytesOf(value));
    return this.#position(request, own);
  }

  #position({ spec: { shared, limit }, queue }: EnqueueRequest, { ord, admitted, nth }: Row): EntryPosition {
    const otherLimit = shared || nth === 1 ? undefined : this.#order.otherLimit(queue, { ord, limit });
    return {
      ord,
      admitted: admitted === 1,
      ...(admitted ? {} : this.#order.ahead(queue, ord, shared)),
      ...(otherLimit === undefined ? {} : { otherLimit }),
    };
  }
}

interface StoredShape extends Pick<Row, 'shared' | 'permits'> {
  readonly queue: Uint8Array;
}

function rowFrom(stored: unknown): Row | undefined {
  if (stored === undefined) return undefined;
  const { ord, shared, lim, permits, admitted, nth } = stored as Readonly<Record<keyof Row, unknown>>;
  return {
    ord: storedWhole(ord, 'entry.ord', 1),
    shared: storedWhole(shared, 'entry.shared', 0),
    lim: storedWhole(lim, 'entry.lim', 1),
    permits: storedWhole(permits, 'entry.permits', 1),
    admitted: storedWhole(admitted, 'entry.admitted', 0),
    nth: storedWhole(nth, 'entry.nth', 1),
  };
}

function shapeOf({ queue, shared, permits }: StoredShape): EntryShape {
  return { queue: textOf(storedBytes(queue, 'entry.queue')), shared: shared === 1, permits };
}

/**
 * Returns the key of an entry, as users and tools see it. It ends with the order number, which is unique in
 * the whole file, so a name may contain any slashes.
 */
export function keyOf(queue: string, ord: number): string {
  return `${queue}/${ord}`;
}
