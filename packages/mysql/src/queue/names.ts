import { checkQueueName } from '@queuelock/core/backend';

const MAX_NAME_BYTES = 512;

/** @throws {QueueLockError} `INVALID_ARGUMENT` when the name of a queue is empty, too long, or not well-formed Unicode */
export function checkName(queue: string): void {
  checkQueueName(queue, MAX_NAME_BYTES);
}

/** Returns the public key of an entry. */
export function keyOf(queue: string, ord: string): string {
  return `${queue}/${ord}`;
}

/** Returns the order in an entry's public key, or `undefined` when the key belongs to another queue. */
export function orderIn(queue: string, key: string): string | undefined {
  const order = key.slice(queue.length + 1);
  return key.startsWith(`${queue}/`) && /^\d+$/.test(order) ? order : undefined;
}
