import type { Finding } from '@queuelock/core/backend';
import { leaseHex, placeOf } from '../queue/keys.ts';
import { isNamedAfterLease, type ListedKey } from '../queue/queue-lines.ts';

interface Child {
  readonly name: string;
  readonly lease: string;
}

/** The keys that are in some directory, by that, without those that queuelock keeps for itself. */
function directoriesOf(prefix: string, keys: readonly ListedKey[]): ReadonlyMap<string, readonly Child[]> {
  const directories = new Map<string, Child[]>();
  for (const { key, lease } of keys) {
    const place = placeOf(prefix, key);
    if (!place) continue;
    const children = directories.get(place.queue) ?? [];
    children.push({ name: place.child, lease });
    directories.set(place.queue, children);
  }
  return directories;
}

/** The leases that entries are on, each once. */
export function leasesIn(prefix: string, keys: readonly ListedKey[]): readonly string[] {
  const entries = [...directoriesOf(prefix, keys).values()].flat().filter(isEntry);
  return [...new Set(entries.map(({ lease }) => lease))];
}

/** What stands in queues and does not belong there, and names that are in each other's way. */
export function examineKeys(prefix: string, keys: readonly ListedKey[]): readonly Finding[] {
  const directories = directoriesOf(prefix, keys);
  const queues = [...directories].filter(([, children]) => children.some(isEntry));
  const findings = queues.flatMap(([queue, children]) => [
    ...strays(prefix, queue, children),
    ...nested(
      queue,
      children,
      queues.map(([name]) => name),
    ),
  ]);
  const entries = queues.reduce((sum, [, children]) => sum + children.length, 0);
  return [
    { level: 'fine', about: 'queues', text: `${queues.length} in use, entries: ${entries}` },
    ...findings,
  ];
}

function isEntry({ name, lease }: Child): boolean {
  return isNamedAfterLease(name, lease);
}

function strays(prefix: string, queue: string, children: readonly Child[]): readonly Finding[] {
  return children
    .filter((child) => !isEntry(child))
    .map(({ name, lease }): Finding => {
      const about = `key ${JSON.stringify(`${prefix}${queue}/${name}`)}`;
      const what = 'it is not named after its lease, and everybody in the queue waits for it as for an entry';
      return lease === '0'
        ? {
            level: 'problem',
            about,
            text: `${what}; it has no lease, so it stays for ever: delete it if it is no lock`,
          }
        : { level: 'advice', about, text: `${what}; it goes with its lease` };
    });
}

/** Go's mutex takes whatever begins with its name and a slash for a contender. */
function nested(queue: string, children: readonly Child[], names: readonly string[]): readonly Finding[] {
  const isOfGo = children.some(({ name, lease }) => lease !== '0' && name === leaseHex(lease));
  const below = isOfGo ? names.filter((name) => name.startsWith(`${queue}/`)) : [];
  if (below.length === 0) return [];
  const text = `a client of Go's kind (or etcdctl) stands in it and also waits for whoever is in ${JSON.stringify(below[0])}: do not nest names that such clients use`;
  return [{ level: 'problem', about: `queue ${JSON.stringify(queue)}`, text }];
}
