import { checkedRegisterKind, invalidArgument, type Register, type Registers } from '@queuelock/core/backend';
import type { IKeyValue } from '../protocol/messages.ts';
import type { Connection } from '../server/connection.ts';
import { registerKey } from '../queue/keys.ts';
import { concatMap, defer, distinctUntilChanged, filter, map, tap, type Observable } from '../base/rx.ts';
import { modifiedAt, putWithoutLease, remove } from '../queue/txn.ts';
import type { WatchNotification, Watches } from '../server/watches.ts';

/** The parts of the backend that registers use: the connection to the store, the watches, and the prefix of the keys. */
export interface RegisterContext {
  readonly connection: Connection;
  readonly watches: Watches;
  readonly prefix: string;
}

/** The text of a register at one revision of the store. */
interface Reading {
  readonly revision: bigint;
  readonly register: Register | undefined;
}

const VERSION = /^[1-9]\d{0,18}$/;
const MAX_TEXT_BYTES = 4_096;

/** Stores each register as one key without a lease. The version of a register is the revision of its last write, which no other write can have. */
export class EtcdRegisters implements Registers {
  readonly #context: RegisterContext;

  constructor(context: RegisterContext) {
    this.#context = context;
  }

  async read(queue: string, kind: string): Promise<Register | undefined> {
    return (await this.#read(this.#key(queue, kind))).register;
  }

  async write(
    queue: string,
    kind: string,
    { text, was }: { readonly text: string | undefined; readonly was: string | undefined },
  ): Promise<boolean> {
    const key = this.#key(queue, kind);
    if (text !== undefined) checkText(text);
    if (was !== undefined && !VERSION.test(was))
      throw invalidArgument('change.was', was, 'is the version that a register was read with');
    const txn = {
      compare: [modifiedAt(key, BigInt(was ?? 0))],
      success: [text === undefined ? remove(key) : putWithoutLease(key, text)],
    };
    const { succeeded } = await this.#context.connection.ask('writing a register', (etcd, options) =>
      etcd.txn(txn, options),
    );
    return succeeded;
  }

  /**
   * Observes a register: reads it once the watch is live, and then applies the watch's events. Errors when the connection breaks, so that no observer
   * takes an old text for the present one.
   */
  observe(queue: string, kind: string): Observable<Register | undefined> {
    const key = this.#key(queue, kind);
    return defer(() => {
      let newest = -1n;
      return this.#context.watches.watch({ key }).pipe(
        concatMap((notification) => this.#reading(key, notification)),
        // Drops events that are older than the read of the register, which the watch may also deliver.
        filter(({ revision }) => revision > newest),
        tap(({ revision }) => (newest = revision)),
        map(({ register }) => register),
        distinctUntilChanged((a, b) => a?.version === b?.version),
      );
    });
  }

  async #reading(key: Buffer, notification: WatchNotification): Promise<Reading> {
    if (notification.status === 'broken') throw notification.error;
    const last = notification.status === 'events' ? notification.events.at(-1) : undefined;
    if (!last) return this.#read(key);
    const { type, kv } = last;
    return { revision: BigInt(kv.mod_revision), register: type === 'Put' ? registerOf(kv) : undefined };
  }

  async #read(key: Buffer): Promise<Reading> {
    const { header, kvs } = await this.#context.connection.ask('reading a register', (etcd, options) =>
      etcd.range({ key }, options),
    );
    return { revision: BigInt(header.revision), register: kvs[0] && registerOf(kvs[0]) };
  }

  #key(queue: string, kind: string): Buffer {
    return Buffer.from(registerKey(this.#context.prefix, queue, checkedRegisterKind(kind)));
  }
}

function registerOf({ value, mod_revision }: IKeyValue): Register {
  return { text: value.toString(), version: mod_revision };
}

function checkText(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_TEXT_BYTES)
    throw invalidArgument('change.text', `${bytes} bytes`, `is at most ${MAX_TEXT_BYTES} bytes of UTF-8`);
}
