/** Finds entries of another naming in a queue's directory, and other children for which waiters of Curator would wait. */
import { setTimeout as pause } from 'node:timers/promises';
import { QueueLockError } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import type { Contender } from './entries.ts';
import { MARKS, parseMarked, type Mark } from './marks.ts';
import type { Scheme } from './naming.ts';
import type { QueueLocation } from './queue-location.ts';

/**
 * Maximum time in milliseconds from the creation of a nested queue's directory to its first child. During
 * this time, an empty directory does not count as a foreign child.
 */
const DIRECTORY_IS_USED_WITHIN_MS = 1_000;

/** An entry of another naming. Its client and the clients of this queue do not wait for each other. */
interface ForeignEntry {
  readonly name: string;
  readonly mark: Mark;
}

/** The children that are not entries of a naming. */
export interface Foreign {
  /** The first entry of another naming, if there is one. */
  readonly entry: ForeignEntry | undefined;
  /** Children that are not entries, but that Curator sorts by their names ahead of the caller's entry. Waiters of Curator would wait for them. */
  readonly inFront: readonly string[];
}

/**
 * Finds the children of a queue's directory that are not entries of the queue's naming.
 * @param own the caller's entry: the result `inFront` contains the children that Curator sorts ahead of it. Default: the last entry of the queue
 */
export function foreignIn(
  children: readonly string[],
  { scheme, own }: { readonly scheme: Scheme; readonly own?: Contender | undefined },
): Foreign {
  if (scheme.countsAll) return { entry: undefined, inFront: [] };
  const known: readonly (Mark | undefined)[] = [scheme.exclusive, scheme.shared, ...scheme.others];
  const unmarked: string[] = [];
  let entry: ForeignEntry | undefined;
  for (const name of children) {
    const mark = parseMarked(name)?.mark;
    if (mark === undefined) unmarked.push(name);
    else if (!known.includes(mark)) entry ??= { name, mark };
  }
  if (unmarked.length === 0) return { entry, inFront: [] };
  const last = own ? (digitsIn(own.name) ?? FIRST_NUMBER) : lastOf(children.map(digitsIn));
  const isInFront = (name: string): boolean => curatorKey(name, scheme) < last;
  return { entry, inFront: scheme.sortsAfter.length === 0 ? [] : unmarked.filter(isInFront) };
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
  { children, own }: { readonly children: readonly string[]; readonly own?: Contender },
): Promise<void> {
  const { entry, inFront } = foreignIn(children, { scheme, own });
  if (entry) throw foreignFormat(directory, entry, scheme);
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
