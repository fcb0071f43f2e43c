import type {
  IDeleteRangeRequest,
  IPutRequest,
  IRangeRequest,
  IRequestOp,
  IResponseOp,
  ITxnRequest,
} from 'etcd3';
import { Keyspace, keyValueOf, spanOf, type Row } from './keyspace.ts';
import { holds, readRange, type Reader } from './reading.ts';
import { refusal } from './refusal.ts';

/** A lease as the log describes it: its TTL and its keys. The leader alone measures the remaining time. */
export interface Lease {
  readonly id: string;
  readonly ttl: number;
  readonly keys: Set<string>;
}

/** A response without its header. `revision` is the revision that the header contains. */
export interface Applied {
  readonly revision: number;
  readonly body: object;
}

const NO_LEASE = '0';
const HEADER = { cluster_id: '0', member_id: '0', raft_term: '0' };

/** Measures the remaining times of leases. The store reports each lease to it that is granted or revoked. */
export interface LeaseTimes {
  granted(lease: Lease): void;
  revoked(id: string): void;
}

/**
 * The state that results from the cluster's log. Each command takes effect completely, or is rejected as a
 * whole.
 */
export class Store {
  readonly keyspace = new Keyspace();
  readonly leases = new Map<string, Lease>();
  /**
   * Called for each key that a request has deleted. `isCompared` is true if the same transaction also
   * compared that key.
   */
  onDeleted: (row: Row, isCompared: boolean) => void = () => undefined;
  readonly #times: () => LeaseTimes | undefined;

  constructor(times: () => LeaseTimes | undefined) {
    this.#times = times;
  }

  /**
   * Reads a range of keys at the revision up to which the member has applied the log. The newest revision may
   * be later.
   */
  range(request: IRangeRequest, reader: Reader): Applied {
    return { revision: reader.revision, body: readRange(this.keyspace, request, reader) };
  }

  put(request: IPutRequest): Applied {
    return this.#alone({ request_put: request }, 'response_put');
  }

  deleteRange(request: IDeleteRangeRequest): Applied {
    return this.#alone({ request_delete_range: request }, 'response_delete_range');
  }

  txn(request: ITxnRequest): Applied {
    const step = new Step(this);
    const { succeeded, responses } = step.txn(request);
    this.keyspace.revision = step.revision;
    return { revision: step.revision, body: { succeeded, responses } };
  }

  /** Grants a lease. Throws if its id is in use. */
  grant(id: string, ttl: number): Applied {
    if (this.leases.has(id)) throw refusal.leaseExists();
    const lease = { id, ttl, keys: new Set<string>() };
    this.leases.set(id, lease);
    this.#times()?.granted(lease);
    return { revision: this.keyspace.revision, body: { ID: id, TTL: String(ttl), error: '' } };
  }

  /** Revokes a lease: removes it and its keys in one revision. */
  revoke(id: string): Applied {
    const lease = this.leases.get(id);
    if (!lease) throw refusal.noLease();
    const step = new Step(this);
    for (const key of [...lease.keys].sort()) step.remove(key);
    this.leases.delete(id);
    this.#times()?.revoked(id);
    this.keyspace.revision = step.revision;
    return { revision: step.revision, body: {} };
  }

  compact(revision: number): void {
    if (revision > this.keyspace.compacted && revision <= this.keyspace.revision)
      this.keyspace.compact(revision);
  }

  #alone(request: IRequestOp, kind: 'response_put' | 'response_delete_range'): Applied {
    const step = new Step(this);
    const lease = String(request.request_put?.lease ?? NO_LEASE);
    // As in etcd, a single put is rejected for an unknown lease before its key is checked. For a put in a
    // transaction, `check` checks the key first.
    if (lease !== NO_LEASE && !this.leases.has(lease)) throw refusal.noLease();
    step.check([request]);
    const body = step.carryOut(request)[kind];
    this.keyspace.revision = step.revision;
    return { revision: step.revision, body };
  }
}

/** Executes one command. All changes of the command have the same revision. */
class Step {
  readonly #store: Store;
  readonly #next: number;
  /** Keys that the current transaction compares. */
  #compared: ReadonlySet<string> = new Set();
  revision: number;

  constructor(store: Store) {
    this.#store = store;
    this.revision = store.keyspace.revision;
    this.#next = this.revision + 1;
  }

  txn({ compare = [], success = [], failure = [] }: ITxnRequest): {
    readonly succeeded: boolean;
    readonly responses: IResponseOp[];
  } {
    const succeeded = compare.every((one) => holds(this.#store.keyspace, one));
    const operations = succeeded ? success : failure;
    this.check(operations);
    const before = this.#compared;
    this.#compared = new Set(compare.map(({ key }) => String(key)));
    const responses = operations.map((one) => this.carryOut(one));
    this.#compared = before;
    return { succeeded, responses };
  }

  /**
   * Checks all operations of a transaction before any change is made. Throws the error of an etcd server if
   * one is invalid.
   */
  check(operations: readonly IRequestOp[]): void {
    const { keyspace, leases } = this.#store;
    for (const { request_put: put } of operations) {
      if (!put) continue;
      if ((put.ignore_lease || put.ignore_value) && keyspace.rows(spanOf(put)).length === 0)
        throw refusal.noKey();
      if (put.lease !== undefined && String(put.lease) !== NO_LEASE && !leases.has(String(put.lease)))
        throw refusal.noLease();
    }
  }

  carryOut(operation: IRequestOp): IResponseOp {
    const { request_range, request_put, request_delete_range, request_txn } = operation;
    if (request_range) return this.#respond('response_range', this.#range(request_range));
    if (request_put) return this.#respond('response_put', this.#put(request_put));
    if (request_delete_range)
      return this.#respond('response_delete_range', this.#remove(request_delete_range));
    // As in etcd, the header of a nested response contains no revision.
    const { header, ...inner } = { header: { ...HEADER, revision: '0' }, ...this.txn(request_txn ?? {}) };
    return { response_txn: { header, ...inner } } as IResponseOp;
  }

  remove(key: string): void {
    this.#detach(key);
    this.#store.keyspace.remove(key, this.#changed());
  }

  #respond(kind: keyof IResponseOp, body: object): IResponseOp {
    const response = { [kind]: { header: { ...HEADER, revision: String(this.revision) }, ...body } };
    return response as unknown as IResponseOp;
  }

  #range(request: IRangeRequest): object {
    return readRange(this.#store.keyspace, request, this);
  }

  #put(request: IPutRequest): object {
    const { keyspace, leases } = this.#store;
    const { key } = spanOf(request);
    const [before] = keyspace.rows({ key, end: undefined }, this.#next);
    const lease = request.ignore_lease ? (before?.lease ?? NO_LEASE) : String(request.lease ?? NO_LEASE);
    const value = request.ignore_value ? before?.value : request.value;
    this.#detach(key);
    leases.get(lease)?.keys.add(key);
    keyspace.put(key, { value: value ?? Buffer.alloc(0), lease }, this.#changed());
    return { prev_kv: request.prev_kv && before ? keyValueOf(before) : null };
  }

  #remove(request: IDeleteRangeRequest): object {
    const rows = this.#store.keyspace.rows(spanOf(request), this.#next);
    for (const row of rows) {
      this.remove(row.key);
      this.#store.onDeleted(row, this.#compared.has(row.key));
    }
    const prev_kvs = request.prev_kv ? rows.map((row) => keyValueOf(row)) : [];
    return { deleted: String(rows.length), prev_kvs };
  }

  #detach(key: string): void {
    const [before] = this.#store.keyspace.rows({ key, end: undefined }, this.#next);
    if (before) this.#store.leases.get(before.lease)?.keys.delete(key);
  }

  #changed(): number {
    this.revision = this.#next;
    return this.#next;
  }
}
