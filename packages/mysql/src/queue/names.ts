import { checkQueueName } from '@queuelock/core/backend';

const MAX_NAME_BYTES = 512;

/**
 * Checks the name of a queue.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when it is empty, longer than 512 bytes, or not well-formed
 * Unicode
 */
export function checkName(queue: string): void {
  checkQueueName(queue, MAX_NAME_BYTES);
}

/** Returns the key of an entry, by which observers and operators see it. */
export function keyOf(queue: string, ord: string): string {
  return `${queue}/${ord}`;
}

/**
 * Returns the order number of an entry from its key, or `undefined` when the key belongs to another queue.
 */
export function orderIn(queue: string, key: string): string | undefined {
  const order = key.slice(queue.length + 1);
  return key.startsWith(`${queue}/`) && /^\d+$/.test(order) ? order : undefined;
}
