import { QueueLockError, type HoldTraces } from '@queuelock/core/backend';
import type { ITxnRequest, ITxnResponse } from '../protocol/messages.ts';
import type { Entries } from './entries.ts';
import type { EntriesContext } from './entries-context.ts';
import type { Entry } from '../entry/entry.ts';
import { rangeUnder, traceDirectory } from '../queue/keys.ts';
import { createdAt, readMetadata, putWithoutLease, remove } from '../queue/txn.ts';

// Maximum number of traces that one transaction checks or deletes, well below the 128 operations that etcd accepts by default.
const AT_ONCE = 64;

/**
 * Stores the traces of holds: for each hold a key without a lease, which contains the name of its entry. See
 * `HoldTraces`.
 */
export class Traces implements HoldTraces {
  readonly #context: EntriesContext;
  readonly #entries: Entries;

  constructor(context: EntriesContext, entries: Entries) {
    this.#context = context;
    this.#entries = entries;
  }

  async leave(queue: string, id: string): Promise<readonly string[]> {
    const entry = await this.#entries.find(queue, id);
    const order = entry?.order;
    if (!entry || order === undefined) throw notThere(queue);
    const directory = traceDirectory(this.#context.prefix, queue);
    const { name: own, traceKey: trace } = entry;
    // Records the key of the trace before the trace is written to the store. If the entry is removed before the response arrives, the removal also
    // deletes the trace. If the write arrives after the removal, it has no effect.
    entry.trace = trace;
    const { succeeded, responses } = await this.#send('writing the trace of a hold', {
      compare: [createdAt(entry.key, order)],
      success: [putWithoutLease(trace), { request_range: { ...rangeUnder(directory), keys_only: true } }],
    });
    if (!succeeded) throw notThere(queue);
    const names = (responses[1]?.response_range.kvs ?? []).map(({ key }) =>
      key.toString().slice(directory.length),
    );
    // Ignores names with a slash: they are traces of nested names, such as `a/b` in the queue `a`, which belong to other queues.
    const others = names.filter((name) => name !== own && !name.includes('/'));
    return this.#withoutEntry(entry, others);
  }

  async erase(queue: string, traces: readonly string[]): Promise<void> {
    const directory = traceDirectory(this.#context.prefix, queue);
    for (const names of portions(traces)) {
      const success = names.map((name) => remove(Buffer.from(directory + name)));
      await this.#send('erasing traces of holds', { success });
    }
  }

  async #withoutEntry({ under }: Entry, names: readonly string[]): Promise<readonly string[]> {
    const gone: string[] = [];
    for (const portion of portions(names)) {
      const success = portion.map((name) => readMetadata(Buffer.from(under + name)));
      const { responses } = await this.#send('reading the holds of traces', { success });
      gone.push(...portion.filter((_, i) => responses[i]?.response_range.kvs.length === 0));
    }
    return gone;
  }

  #send(what: string, txn: ITxnRequest): Promise<ITxnResponse> {
    return this.#context.connection.ask(what, (etcd, options) => etcd.txn(txn, options));
  }
}

function portions(names: readonly string[]): (readonly string[])[] {
  const count = Math.ceil(names.length / AT_ONCE);
  return Array.from({ length: count }, (_, i) => names.slice(i * AT_ONCE, (i + 1) * AT_ONCE));
}

function notThere(queue: string): QueueLockError {
  return new QueueLockError('ENTRY_LOST', `the entry is not in the queue ${JSON.stringify(queue)} any more`);
}
