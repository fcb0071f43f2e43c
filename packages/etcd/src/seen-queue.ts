import type { SeenEntry } from '@queuelock/core/backend';
import type { IEvent, IKeyValue, IRangeResponse } from 'etcd3';
import { readKey } from './keys.ts';

/** A queue as it was listed, kept up to date by the events after that. */
export class SeenQueue {
  readonly #under: string;
  readonly #revision: bigint;
  // In the order of creation: the list starts so, a new key comes last, and a change keeps its place.
  readonly #entries = new Map<string, SeenEntry>();
  #changed = true;

  /** @param listed the keys under the prefix, the oldest first */
  constructor(under: string, listed: Pick<IRangeResponse, 'header' | 'kvs'>) {
    this.#under = under;
    this.#revision = BigInt(listed.header.revision);
    for (const kv of listed.kvs) this.#put(kv);
  }

  /** Takes in what happened after the list; whether there is something to tell, which the list itself is. */
  apply(events: readonly IEvent[]): boolean {
    for (const { type, kv } of events) {
      if (BigInt(kv.mod_revision) <= this.#revision) continue;
      if (type === 'Put') this.#put(kv);
      else if (this.#entries.delete(kv.key.toString())) this.#changed = true;
    }
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }

  entries(): readonly SeenEntry[] {
    return [...this.#entries.values()];
  }

  #put(kv: IKeyValue): void {
    const read = readKey(this.#under, kv.key);
    if (!read) return;
    this.#changed = true;
    this.#entries.set(read.key, { ...read, order: BigInt(kv.create_revision), value: kv.value.toString() });
  }
}
