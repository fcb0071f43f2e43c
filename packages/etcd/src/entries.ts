import {
  QueueLockError,
  isQueueLockError,
  turnOf,
  type EntrySpec,
  type Placement,
} from '@queuelock/core/backend';
import type { ITxnRequest, ITxnResponse } from 'etcd3';
import { aheadIn, suffices } from './ahead.ts';
import type { Connection } from './connection.ts';
import { enterIfEmptyTxn, enterTxn, readEntered, type Entered, type Ticket } from './enqueue.ts';
import { Entry } from './entry.ts';
import { Generation } from './generation.ts';
import type { Sight } from './gone.ts';
import { absentKey, generationKey } from './keys.ts';
import { createdAt, present, putKeepingLease, remove } from './txn.ts';
import { follow, lookAhead } from './turns.ts';

/** Where entries live. */
export interface Surroundings extends Sight {
  readonly connection: Connection;
  readonly prefix: string;
}

type Entering = (entry: Entry, ticket: Ticket) => ITxnRequest;

// Every removal of another entry that had no certain outcome costs one more.
const ATTEMPTS = 20;

/** The entries of one lease, in whatever queues. */
export class Entries {
  readonly #around: Surroundings;
  readonly #lease: string;
  readonly #generation: Generation;
  readonly #byId = new Map<string, Entry>();

  constructor(around: Surroundings, lease: string) {
    this.#around = around;
    this.#lease = lease;
    const key = Buffer.from(generationKey(around.prefix, lease));
    this.#generation = new Generation(around.connection, { key, lease });
  }

  /** A private key of the session, which need not exist. */
  get privateKey(): Buffer {
    return this.#generation.key;
  }

  /** Another one, which never does. */
  get absentKey(): Buffer {
    return Buffer.from(absentKey(this.#around.prefix, this.#lease));
  }

  find(id: string): Entry | undefined {
    return this.#byId.get(id);
  }

  [Symbol.iterator](): Iterator<Entry> {
    return this.#byId.values();
  }

  async enqueue(spec: EntrySpec): Promise<Placement> {
    const entry = this.#entryOf(spec);
    return this.#tidy(spec, async () => this.#place(entry, await this.#enter(entry, spec, enterTxn)));
  }

  async tryEnqueue(spec: EntrySpec): Promise<Placement | undefined> {
    const placement =
      spec.shared || spec.limit > 1 ? await this.enqueue(spec) : await this.#enterIfEmpty(spec);
    if (placement?.turn.admitted) return placement;
    await this.remove(spec.id);
    return undefined;
  }

  async update(id: string, value: string): Promise<boolean> {
    const entry = this.#byId.get(id);
    if (!entry) return false;
    const txn = { compare: [present(entry.key)], success: [putKeepingLease(entry.key, value)] };
    const { succeeded } = await this.#send('changing an entry', txn);
    return succeeded;
  }

  /** Waits for requests in flight, since what they will have done decides how to remove the entry. */
  async remove(id: string): Promise<boolean> {
    const entry = this.#byId.get(id);
    if (!entry) return false;
    entry.withdrawn = true;
    await entry.settled();
    const removed = await this.#withdraw(entry);
    this.#byId.delete(id);
    return removed;
  }

  async #enterIfEmpty(spec: EntrySpec): Promise<Placement | undefined> {
    const entry = this.#entryOf(spec);
    const entered = await this.#tidy(spec, () => this.#enter(entry, spec, enterIfEmptyTxn));
    if (entered.status === 'placed') return this.#tidy(spec, () => this.#place(entry, entered));
    // Only keys of nested names are in the way, as far as could be seen: they count for nothing.
    return entered.status === 'occupied' && entered.contenders ? undefined : this.enqueue(spec);
  }

  /** An entry that is lost must not come back by an earlier request. */
  async #tidy<T>(spec: EntrySpec, enter: () => Promise<T>): Promise<T> {
    try {
      return await enter();
    } catch (error) {
      if (isQueueLockError(error, 'ENTRY_LOST')) await this.remove(spec.id);
      if (isQueueLockError(error, 'SESSION_LOST')) this.#byId.delete(spec.id);
      throw error;
    }
  }

  async #enter(entry: Entry, spec: EntrySpec, entering: Entering): Promise<Entered> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if (entry.withdrawn)
        throw new QueueLockError('ENTRY_LOST', 'the entry was withdrawn while it was entering');
      const { key, value: generation } = this.#generation;
      const ticket: Ticket = { lease: this.#lease, generationKey: key, generation, value: spec.value ?? '' };
      const request = this.#send(`entering the queue ${JSON.stringify(spec.queue)}`, entering(entry, ticket));
      const entered = await entry.creating(request, (answer) => readEntered(answer, entry, ticket));
      // Taken while the store had gone back, and it has caught up since.
      if (entered.status === 'placed' && entry.isOfThePast(entered.order)) {
        await this.#removeCreated(entry);
        continue;
      }
      if (entered.status !== 'outdated') return entered;
      await this.#generation.follow({ used: generation, seen: entered.generation });
    }
    throw new QueueLockError(
      'UNAVAILABLE',
      `no place in the queue after ${ATTEMPTS} requests: the session's generation changed again and again`,
    );
  }

  async #place(entry: Entry, entered: Entered): Promise<Placement> {
    if (entered.status !== 'placed')
      throw new QueueLockError('UNAVAILABLE', 'etcd gave an answer that does not fit the request');
    const { order, rows } = entered;
    const following = { ...this.#around, lease: this.#lease, entry, order };
    const seen = rows && aheadIn(rows, entry);
    const ahead = seen && suffices(seen, entry.limit) ? seen : await lookAhead(following, entry.limit);
    return {
      order,
      token: order,
      key: entry.key.toString(),
      turn: turnOf(ahead, entry),
      turns$: follow(following, ahead),
    } satisfies Placement;
  }

  async #withdraw(entry: Entry): Promise<boolean> {
    try {
      const removed = entry.uncertain && !entry.trace ? false : await this.#removeCreated(entry);
      return entry.uncertain ? (await this.#generation.removeForGood(entry.key)) || removed : removed;
    } catch (error) {
      // Entries go with their lease, and nothing can be put on it any more.
      if (isQueueLockError(error, 'SESSION_LOST')) return false;
      throw error;
    }
  }

  async #removeCreated({ key, order, trace }: Entry): Promise<boolean> {
    if (order === undefined) return false;
    const txn = { compare: [createdAt(key, order)], success: [key, ...(trace ? [trace] : [])].map(remove) };
    return (await this.#send('leaving a queue', txn)).succeeded;
  }

  #entryOf(spec: EntrySpec): Entry {
    const known = this.#byId.get(spec.id);
    if (known) return known;
    const { prefix, connection } = this.#around;
    const entry = new Entry(spec, { prefix, lease: this.#lease, revision: connection.revision });
    this.#byId.set(spec.id, entry);
    return entry;
  }

  #send(what: string, txn: ITxnRequest): Promise<ITxnResponse> {
    return this.#around.connection.ask(what, (etcd, options) => etcd.kv.txn(txn, options));
  }
}
