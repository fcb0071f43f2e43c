import { invalidArgument } from '@queuelock/core/backend';
import { MAX_INT64 } from '../hold.ts';

/** The content of a fenced znode. */
export interface FencedData {
  /** The fencing token of the last writer; 0 before the first write. */
  readonly token: bigint;
  readonly data: Uint8Array;
}

const HEAD = /^queuelock-fence (0|[1-9][0-9]{0,18})\n/;
const MAX_HEAD_BYTES = 'queuelock-fence \n'.length + 19;

/**
 * Encodes the data of a fenced znode: a line `queuelock-fence TOKEN`, then the data. With token 0, the default, the result is the initial
 * content of a node.
 */
export function encodeFencedData(data: Uint8Array | string, token: bigint = 0n): Buffer {
  if (typeof token !== 'bigint' || token < 0n || token > MAX_INT64) {
    throw invalidArgument('token', token, `is a bigint from 0 to ${String(MAX_INT64)}`);
  }
  return Buffer.concat([Buffer.from(`queuelock-fence ${String(token)}\n`), Buffer.from(data)]);
}

/**
 * Decodes the data of a fenced znode. Empty data means that no holder has written yet.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for data in any other form: if it counted as a new node, every old holder could write.
 */
export function decodeFencedData(bytes: Uint8Array): FencedData {
  if (bytes.length === 0) return { token: 0n, data: new Uint8Array() };
  const start = Buffer.from(bytes.subarray(0, MAX_HEAD_BYTES)).toString('latin1');
  const [head = '', digits] = HEAD.exec(start) ?? [];
  const token = digits === undefined ? undefined : BigInt(digits);
  if (token === undefined || token > MAX_INT64) {
    throw invalidArgument(
      'data of the znode',
      start,
      'begins with the line "queuelock-fence TOKEN"; write it there once with encodeFencedData(data)',
    );
  }
  return { token, data: bytes.subarray(head.length) };
}
