/** Finds entries of another naming in a queue's directory, and other children for which waiters of Curator would wait. */
import { setTimeout as pause } from 'node:timers/promises';
import { QueueLockError } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import type { Contender, ForeignEntry, ParsedChildren } from './entries.ts';
import { MARKS, parseMarked, type Mark } from './marks.ts';
import type { Scheme } from './naming.ts';
import type { QueueLocation } from './queue-location.ts';

/**
 * Maximum time in milliseconds from the creation of a nested queue's directory to its first child. During
 * this time, an empty directory does not count as a foreign child.
 */
const DIRECTORY_IS_USED_WITHIN_MS = 1_000;

/**
 * Returns the children that are not entries, but that Curator sorts by their names ahead of the caller's entry. Waiters of Curator would wait for them.
 * @param own the caller's entry; default: the last entry of the queue
 */
export function childrenInFront(
  { contenders, others }: ParsedChildren,
  { scheme, own }: { readonly scheme: Scheme; readonly own?: Contender | undefined },
): readonly string[] {
  if (others.length === 0 || scheme.sortsAfter.length === 0) return [];
  const last = own
    ? (digitsIn(own.name) ?? FIRST_NUMBER)
    : lastOf(contenders.map(({ name }) => digitsIn(name)));
  return others.filter((name) => curatorKey(name, scheme) < last);
}

const FIRST_NUMBER = '0000000000';

/** Returns the number of an entry as it is written in its name. */
function digitsIn(name: string): string | undefined {
  const { numberAt } = parseMarked(name) ?? {};
  return numberAt === undefined ? undefined : name.slice(numberAt);
}

function lastOf(numbers: readonly (string | undefined)[]): string {
  return numbers.reduce<string>((last, number = last) => (number > last ? number : last), FIRST_NUMBER);
}

/**
 * Returns the part of a child's name by which Curator sorts it: what follows the marks `sortsAfter` of the
 * naming.
 */
function curatorKey(name: string, { sortsAfter }: Scheme): string {
  return sortsAfter.reduce(afterLast, name);
}

function afterLast(name: string, mark: Mark): string {
  const at = name.lastIndexOf(mark);
  return at < 0 ? name : name.slice(at + mark.length);
}

/**
 * Rejects with `FOREIGN_FORMAT` in two cases:
 * - The queue has an entry of another naming. The clients of the two namings would not exclude each other.
 * - The queue has a child that is neither an entry nor a directory of a nested queue, and waiters of Curator would wait for it forever.
 *
 * Directories of nested queues are allowed, because a queue's name may be any path. Waiters of Curator may wait for them, too.
 * @param own the entry of the caller; default: the last entry of the queue
 */
export async function refuseForeign(
  zk: ZkDriver,
  { directory, scheme }: QueueLocation,
  { children, own }: { readonly children: ParsedChildren; readonly own?: Contender },
): Promise<void> {
  if (children.foreign) throw foreignFormat(directory, children.foreign, scheme);
  const inFront = childrenInFront(children, { scheme, own });
  const stay = await Promise.all(inFront.map((name) => isAndStays(zk, `${directory}/${name}`)));
  const stranger = inFront.find((_, at) => stay[at]);
  if (stranger !== undefined) throw blocksCurator(directory, stranger);
}

/**
 * Resolves with whether the node exists and has never had a child, neither at the call nor a second later.
 */
async function isAndStays(zk: ZkDriver, path: string): Promise<boolean> {
  if (!(await isLeaf(zk, path))) return false;
  await pause(DIRECTORY_IS_USED_WITHIN_MS);
  return isLeaf(zk, path);
}

async function isLeaf(zk: ZkDriver, path: string): Promise<boolean> {
  const stat = await zk.stat(path);
  return stat?.childChanges === 0;
}

function foreignFormat(directory: string, { name, mark }: ForeignEntry, scheme: Scheme): QueueLockError {
  const { of, naming } = MARKS[mark];
  return new QueueLockError(
    'FOREIGN_FORMAT',
    `${directory} has the entry ${name}, as of ${of}, and such entries and those of naming "${scheme.naming}" of this queue do not exclude each other; ${remedy(mark, scheme)}, or give the queue naming "${naming}" in every client, or use different names for the two queues`,
  );
}

/** Returns how to configure the clients of two namings so that both use the same naming. */
function remedy(mark: Mark, { naming }: Scheme): string {
  const isKazoo = MARKS[mark].naming === 'kazoo';
  if (naming === 'curator' && mark === '__lock__') {
    return 'let kazoo write Curator’s names (a subclass of Lock with _NODE_NAME = "-lock-" and _EXCLUDE_NAMES = ["-lock-"]), or give the queue naming "curator+kazoo" with kazoo’s extra_lock_patterns=["-lock-"] and a driver for Curator that sorts kazoo’s names';
  }
  if (naming === 'curator-read-write' && isKazoo) {
    return 'let kazoo write Curator’s names (subclasses with _NODE_NAME = "-__WRIT__" and "-__READ__")';
  }
  if (naming === 'kazoo' && mark === 'lock-') {
    return 'let Curator write kazoo’s names (a LockInternalsDriver that creates "__lock__"), or give the queue naming "curator+kazoo", with kazoo’s extra_lock_patterns=["-lock-"] and a driver for Curator that sorts kazoo’s names';
  }
  if (naming === 'curator+kazoo' && mark === '__rlock__') {
    return 'use only exclusive locks of kazoo in this queue';
  }
  return 'let the other side use the recipe that this naming is made for';
}

function blocksCurator(directory: string, name: string): QueueLockError {
  return new QueueLockError(
    'FOREIGN_FORMAT',
    `${directory} has the child ${JSON.stringify(name)}, which is not an entry; every waiter of Curator waits for it forever, since Curator sorts it first; delete it`,
  );
}
