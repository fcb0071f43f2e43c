import { randomInt } from 'node:crypto';
import {
  checkedRegisterKind,
  checkedRegisterText,
  type Register,
  type Registers,
} from '@queuelock/core/backend';
import { map, defer } from '../base/rx.ts';
import type { KvOperation } from '../driver/requests.ts';
import type { KvPair } from '../driver/responses.ts';
import { changesOf } from './changes.ts';
import type { ViewTools } from './views.ts';

/** Returns the registers of the backend. Each register is one key that belongs to no session. Its version is the index of its last write. */
export function registersOf(tools: () => ViewTools): Registers {
  return {
    async read(queue, kind) {
      const { connection, keys } = tools();
      const { pairs } = await connection.read(keys.register(queue, checkedRegisterKind(kind)), {
        isConsistent: true,
      });
      return registerIn(pairs);
    },
    async write(queue, kind, { text, was }) {
      const { connection, keys } = tools();
      const key = keys.register(queue, checkedRegisterKind(kind));
      const index = BigInt(was ?? 0);
      const result = await connection.txn(
        text === undefined ? emptied(key, index) : [written(key, checkedRegisterText(text), index)],
      );
      return result.isDone;
    },
    observe: (queue, kind) =>
      defer(() => {
        const { connection, keys, clock } = tools();
        const followed = { key: keys.register(queue, checkedRegisterKind(kind)), isTree: false, pauseMs: 0 };
        return changesOf(connection, clock, followed).pipe(map(({ pairs }) => registerIn(pairs)));
      }),
  };
}

/**
 * Returns the operation that writes a register. Consul gives a key a new index only if its text or flags change, so the flags are random. An index of
 * 0 requires that the key does not exist yet.
 */
function written(key: string, text: string, index: bigint): KvOperation {
  return { verb: 'cas', key, text, index, flags: randomInt(2 ** 31) };
}

function emptied(key: string, index: bigint): readonly KvOperation[] {
  if (index === 0n) return [{ verb: 'check-not-exists', key }];
  return [
    { verb: 'check-index', key, index },
    { verb: 'delete', key },
  ];
}

function registerIn(pairs: readonly KvPair[]): Register | undefined {
  const [pair] = pairs;
  return pair && { text: pair.text, version: pair.modifyIndex.toString() };
}
