// Folder "views": reads queues, registers, servers and past changes for observers and operators.
// observe.ts (this file) observes one queue. queues.ts observes all queues, which walk.ts finds. history.ts, registers.ts, evict.ts and
// diagnose.ts serve operators.

import {
  QueueLockError,
  isQueueLockError,
  type ObserveOptions,
  type StoredEntry,
} from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import { orderOf, entriesOf, parseChildren, type Contender } from '../queue/entries.ts';
import { refuseForeign } from '../queue/foreign.ts';
import type { Scheme } from '../queue/naming.ts';
import { valueIn } from '../queue/node-text.ts';
import type { QueueLocation } from '../queue/queue-location.ts';
import {
  defer,
  distinctUntilChanged,
  filter,
  merge,
  switchMap,
  tap,
  throwError,
  type Observable,
} from '../base/rx.ts';
import { readAgainOn, type RepeatedReadOptions } from '../base/repeated-reads.ts';
import { safetyIntervalMs } from '../server/node-watch.ts';

type Values = Map<string, string>;

/**
 * Emits the entries of a directory in order: now and after every change. A value is read once, and again when it changes. A missing
 * directory is an empty queue; the watch on it reports its creation. Errors when the connection breaks, so that no observer mistakes an old
 * snapshot for the present one. Errors with `FOREIGN_FORMAT` when the queue has entries of other namings, which are not shown.
 */
export function observeQueue(
  zk: ZkDriver,
  location: QueueLocation,
  { apartMs: minIntervalMs = 0 }: ObserveOptions = {},
): Observable<readonly StoredEntry[]> {
  return defer(() => {
    const { directory } = location;
    const values: Values = new Map();
    const below$ = zk.changesBelow(directory).pipe(tap(({ name }) => values.delete(name)));
    const changes$ = merge(zk.changes(directory), below$);
    return readWhileConnected(zk, changes$, {
      read: () => readEntries(zk, location, values),
      minIntervalMs,
    }).pipe(distinctUntilChanged(isSame));
  });
}

/**
 * Reads the observed data now and after every change. A result is never older than a previous one. Errors when the connection breaks, so
 * that no observer mistakes an old state for the present one.
 */
export function readWhileConnected<T>(
  zk: ZkDriver,
  changes$: Observable<unknown>,
  { read, minIntervalMs = 0 }: Pick<RepeatedReadOptions<T>, 'read' | 'minIntervalMs'>,
): Observable<T> {
  return defer(() => {
    let isCurrent = false;
    return readAgainOn(merge(changes$, breaks(zk), zk.ended$), {
      async read() {
        // The observer may have read a newer state through another session. So a `sync` first brings the
        // server of this session up to date.
        if (!isCurrent) await zk.sync();
        isCurrent = true;
        return read();
      },
      repeatAfterMs: safetyIntervalMs,
      minIntervalMs,
    });
  });
}

function breaks(zk: ZkDriver): Observable<never> {
  return zk.connection$.pipe(
    filter(({ status }) => status === 'lost'),
    switchMap(() => throwError(() => new QueueLockError('UNAVAILABLE', 'the connection to ZooKeeper broke'))),
  );
}

async function readEntries(
  zk: ZkDriver,
  location: QueueLocation,
  values: Values,
): Promise<readonly StoredEntry[]> {
  const { directory, scheme } = location;
  const children = await childrenAndWatch(zk, directory);
  const parsed = parseChildren(children, scheme);
  await refuseForeign(zk, location, { children: parsed });
  const contenders = entriesOf(parsed);
  for (const name of values.keys()) if (!children.includes(name)) values.delete(name);
  const seen = await Promise.all(contenders.map((contender) => entryOf(zk, location, { contender, values })));
  return seen.filter((entry) => entry !== undefined);
}

/**
 * Lists the children and sets a watch on the directory. If the directory is missing, returns an empty list and sets a watch on its
 * creation.
 */
async function childrenAndWatch(zk: ZkDriver, directory: string): Promise<readonly string[]> {
  for (;;) {
    const children = await zk.children(directory, { watch: true });
    if (children) return children;
    if (!(await zk.stat(directory, { watch: true }))) return [];
  }
}

async function entryOf(
  zk: ZkDriver,
  { directory, scheme }: QueueLocation,
  { contender, values }: { contender: Contender; values: Values },
): Promise<StoredEntry | undefined> {
  const { name, sequence, shared } = contender;
  const key = `${directory}/${name}`;
  const value = values.get(name) ?? (await valueOf(zk, key, scheme));
  if (value === undefined) return undefined;
  values.set(name, value);
  return { key, order: orderOf(sequence), shared, value };
}

/** Reads the value of an entry. If the client may not read it, the entry is shown with an empty value. */
async function valueOf(zk: ZkDriver, path: string, scheme: Scheme): Promise<string | undefined> {
  try {
    const node = await zk.read(path, { watch: true });
    return node && valueIn(node.text, scheme);
  } catch (error) {
    if (isQueueLockError(error, 'ACCESS_DENIED')) return '';
    throw error;
  }
}

function isSame(before: readonly StoredEntry[], now: readonly StoredEntry[]): boolean {
  return (
    before.length === now.length &&
    now.every(({ key, value }, at) => key === before[at]?.key && value === before[at].value)
  );
}
