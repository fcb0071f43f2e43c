import type { Finding } from '@queuelock/core/backend';
import { isNamedAfterLease, leaseHex, locationOf } from '../queue/keys.ts';
import type { ListedKey } from '../queue/listed-queues.ts';

interface Child {
  readonly name: string;
  readonly lease: string;
}

/** Groups the keys by directory: the part of the key before its last slash. Omits keys without a slash, and queuelock's own keys in `.queuelock/`. */
function directoriesOf(prefix: string, keys: readonly ListedKey[]): ReadonlyMap<string, readonly Child[]> {
  const directories = new Map<string, Child[]>();
  for (const { key, lease } of keys) {
    const place = locationOf(prefix, key);
    if (!place) continue;
    const children = directories.get(place.queue) ?? [];
    children.push({ name: place.child, lease });
    directories.set(place.queue, children);
  }
  return directories;
}

/** Returns the leases of all entries, without repetitions. */
export function leasesIn(prefix: string, keys: readonly ListedKey[]): readonly string[] {
  const entries = [...directoriesOf(prefix, keys).values()].flat().filter(isEntry);
  return [...new Set(entries.map(({ lease }) => lease))];
}

/** The largest number of directories without entries that are reported one by one. One more finding states how many others there are. */
const MAX_FOREIGN = 10;

/** The keys to diagnose: those that begin with `prefix`, and among these the queues whose names begin with `beginning`. */
export interface DiagnosedKeys {
  readonly prefix: string;
  readonly beginning: string;
}

/**
 * Reports keys that are in a queue but are not entries, directories that contain no entries, and queues whose nested names conflict with
 * Go's clients.
 */
export function diagnoseKeys(
  { prefix, beginning }: DiagnosedKeys,
  keys: readonly ListedKey[],
): readonly Finding[] {
  const directories = [...directoriesOf(prefix, keys)];
  const queues = directories.filter(([, children]) => children.some(isEntry));
  const foreign = directories.filter(([, children]) => !children.some(isEntry));
  const names = queues.map(([name]) => name);
  // Without a prefix, directories that contain no entries may belong to any program that uses this etcd. So none of them is reported.
  const shown = prefix + beginning === '' ? 0 : Math.min(foreign.length, MAX_FOREIGN);
  const findings = queues.flatMap(([queue, children]) => [
    ...strays(prefix, queue, children),
    ...nested(queue, children, names),
  ]);
  const entries = queues.reduce((sum, [, children]) => sum + children.length, 0);
  return [
    { level: 'ok', about: 'queues', text: `${queues.length} in use, entries: ${entries}` },
    ...findings,
    ...foreign.slice(0, shown).map(([queue, children]) => foreignDirectory(prefix, queue, children)),
    ...unshown(foreign.length - shown),
  ];
}

/** Reports a directory whose keys are not entries. A lock of that name would wait for these keys. */
function foreignDirectory(prefix: string, queue: string, children: readonly Child[]): Finding {
  const stays = children.some(({ lease }) => lease === '0');
  const wait = stays ? 'would wait forever' : 'would wait until their leases end';
  const text = `it contains keys that are not entries (${children.length}), and a lock of the name ${JSON.stringify(queue)} ${wait}: delete them, or give queues a prefix of their own`;
  return { level: 'warning', about: `directory ${JSON.stringify(`${prefix}${queue}/`)}`, text };
}

function unshown(count: number): readonly Finding[] {
  if (count === 0) return [];
  const text = `${count} of them contain keys that are not entries, not shown here, and a lock of such a name would wait for these: give queues a prefix of their own`;
  return [{ level: 'warning', about: 'directories', text }];
}

function isEntry({ name, lease }: Child): boolean {
  return isNamedAfterLease(name, lease);
}

function strays(prefix: string, queue: string, children: readonly Child[]): readonly Finding[] {
  return children
    .filter((child) => !isEntry(child))
    .map(({ name, lease }): Finding => {
      const about = `key ${JSON.stringify(`${prefix}${queue}/${name}`)}`;
      const what =
        'it is not named after its lease, and all waiters in the queue wait for it as for an entry';
      return lease === '0'
        ? {
            level: 'error',
            about,
            text: `${what}; it has no lease, so it never expires: delete it if it is no lock`,
          }
        : { level: 'warning', about, text: `${what}; it is deleted with its lease` };
    });
}

/** Reports nested names such as `a` and `a/b`. In the queue `a`, Go's mutex also waits for the keys of `a/b`. */
function nested(queue: string, children: readonly Child[], names: readonly string[]): readonly Finding[] {
  const isOfGo = children.some(({ name, lease }) => lease !== '0' && name === leaseHex(lease));
  const below = isOfGo ? names.filter((name) => name.startsWith(`${queue}/`)) : [];
  if (below.length === 0) return [];
  const text = `a client of Go's kind (or etcdctl) is in it and also waits for all entries of ${JSON.stringify(below[0])}: do not nest names that such clients use`;
  return [{ level: 'error', about: `queue ${JSON.stringify(queue)}`, text }];
}
