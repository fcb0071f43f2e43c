import { invalidArgument, type StoredEntry } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import { contendersIn, orderOf, parseContender, type Contender } from '../queue/entries.ts';
import type { QueueLocation } from '../queue/queue-location.ts';

/**
 * Parses the key of an entry in the directory of a queue. Returns the entry to remove.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for any other key
 */
export function entryIn({ directory, scheme }: QueueLocation, key: string): Contender {
  const name = key.startsWith(`${directory}/`) ? key.slice(directory.length + 1) : '';
  const contender = name === '' || name.includes('/') ? undefined : parseContender(name, scheme);
  if (contender) return contender;
  throw invalidArgument('key', key, `is the path of an entry directly below ${directory}`);
}

/**
 * Removes an entry of any client, if the key still belongs to the entry with the given order number. If a
 * writer is being converted to a reader, both of its nodes are removed.
 */
export async function evictEntry(
  zk: ZkDriver,
  location: QueueLocation,
  { key, order }: Pick<StoredEntry, 'key' | 'order'>,
): Promise<boolean> {
  const { sequence } = entryIn(location, key);
  if (orderOf(sequence) !== order || !(await zk.delete(key))) return false;
  if (sequence === undefined) return true;
  const { directory, scheme } = location;
  const children = (await zk.children(directory)) ?? [];
  const twins = contendersIn(children, scheme).filter((other) => other.sequence === sequence);
  await Promise.all(twins.map(({ name }) => zk.delete(`${directory}/${name}`)));
  return true;
}
