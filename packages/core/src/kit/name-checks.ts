import { invalidArgument } from '../api/errors.ts';

const REGISTER_KIND = /^[a-z]{1,16}$/;
const MAX_REGISTER_BYTES = 4_096;

/**
 * Checks the name of a queue, for a store that keeps names as UTF-8.
 * @param maxBytes maximum length in bytes of UTF-8. Default: no limit
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the name is empty, not well-formed Unicode, or too long
 */
export function checkQueueName(queue: string, maxBytes: number = Infinity): void {
  if (typeof queue !== 'string' || queue === '')
    throw invalidArgument('queue', queue, 'is a string with at least one character');
  if (/\p{Surrogate}/u.test(queue)) throw invalidArgument('queue', queue, 'is well-formed Unicode');
  if (Buffer.byteLength(queue) > maxBytes)
    throw invalidArgument('queue', queue, `is at most ${String(maxBytes)} bytes of UTF-8`);
}

/**
 * Returns the kind of a register if it is valid.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when it is not 1 to 16 letters from a to z
 */
export function checkedRegisterKind(kind: string): string {
  if (!REGISTER_KIND.test(kind)) throw invalidArgument('kind', kind, 'is 1 to 16 letters from a to z');
  return kind;
}

/**
 * Returns the text of a register if it is not too long.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when it takes more than 4,096 bytes of UTF-8
 */
export function checkedRegisterText(text: string): string {
  if (Buffer.byteLength(text) > MAX_REGISTER_BYTES)
    throw invalidArgument('text', text, `is at most ${String(MAX_REGISTER_BYTES)} bytes of UTF-8`);
  return text;
}
