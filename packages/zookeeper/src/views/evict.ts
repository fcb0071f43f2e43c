import { invalidArgument, type StoredEntry } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import { contendersIn, orderOf, parseContender, type Contender } from '../queue/entries.ts';
import type { QueuePlace } from '../queue/queue-place.ts';

/** The entry of a directory that has this key; its order may be another. @throws {QueueLockError} `INVALID_ARGUMENT` */
export function entryIn({ directory, scheme }: QueuePlace, key: string): Contender {
  const name = key.startsWith(`${directory}/`) ? key.slice(directory.length + 1) : '';
  const contender = name === '' || name.includes('/') ? undefined : parseContender(name, scheme);
  if (contender) return contender;
  throw invalidArgument('key', key, `is the path of an entry directly below ${directory}`);
}

/** Removes somebody's entry if it has this order: its node, and the other one of a writer that just turns into a reader. */
export async function evictEntry(
  zk: ZkDriver,
  place: QueuePlace,
  { key, order }: Pick<StoredEntry, 'key' | 'order'>,
): Promise<boolean> {
  const { sequence } = entryIn(place, key);
  if (orderOf(sequence) !== order || !(await zk.delete(key))) return false;
  if (sequence === undefined) return true;
  const { directory, scheme } = place;
  const children = (await zk.children(directory)) ?? [];
  const twins = contendersIn(children, scheme).filter((other) => other.sequence === sequence);
  await Promise.all(twins.map(({ name }) => zk.delete(`${directory}/${name}`)));
  return true;
}
