/**
 * Whose names the entries of a queue have: one description for each. All that a mode is stands in its description; whatever
 * works with entries goes by that.
 *
 * Formats and rules: Curator's LockInternals, InterProcessReadWriteLock, LeaderLatch and InterProcessSemaphoreV2, and kazoo's
 * recipe/lock.py.
 */
import { invalidArgument } from '@queuelock/core/backend';
import type { Mark } from './marks.ts';

/**
 * Whose names the entries of a queue have, and so who else can stand in it:
 *
 * - `curator`: InterProcessMutex and LeaderSelector; readers are ours only, and those wait for them.
 * - `curator-read-write`: both sides of InterProcessReadWriteLock.
 * - `curator-latch`: LeaderLatch; no readers, and values that never change.
 * - `curator-lease`: the `leases` directory of InterProcessSemaphoreV2, where every child counts; see `curatorSemaphore` of
 *   `@queuelock/recipes`.
 * - `kazoo`: Lock, WriteLock, ReadLock and Election; directories stay.
 * - `fast`: exclusive locks of this package alone, where entering a long queue costs no more than entering a short one; directories stay.
 * - `curator+kazoo`: both, after each of them was taught the names of the other; readers likewise.
 */
export type Naming =
  | 'curator'
  | 'curator-read-write'
  | 'curator-latch'
  | 'curator-lease'
  | 'kazoo'
  | 'curator+kazoo'
  | 'fast';

/** How an entry's name begins. */
interface NameStyle {
  /** With its id, so that it is found again, unless `Scheme.idIsInText`. */
  readonly prefix: (id: string) => string;
  /** What it says of permits. */
  readonly takes: (permits: number, limit: number) => string;
  /** What a reader that was a writer says of the token that it had as such, and keeps. */
  readonly since: (token: bigint) => string;
  /** The same to read names with: a group for the prefix, two for permits and limit, one for the token. */
  readonly reads: { readonly prefix: string; readonly takes: string; readonly since: string };
}

/** One way to name entries. */
export interface Scheme {
  readonly naming: Naming;
  readonly style: NameStyle;
  /** Of an exclusive entry of ours: groups for the prefix, permits, limit and number. */
  readonly shape: RegExp;
  /** Of a reader of ours that was a writer: groups for the prefix, token and number. */
  readonly readerShape: RegExp;
  /** Of a new entry. */
  readonly exclusive: Mark;
  /** Likewise; none where others know no shared entries. */
  readonly shared: Mark | undefined;
  /** Who else stands in line, exclusively. */
  readonly others: readonly Mark[];
  /** Names have nothing in them but the number, so that a number tells a name; the id is in the node. Locks only: no limits, no permits. */
  readonly idIsInText: boolean;
  /** Every child stands in line, whatever its name. */
  readonly countsAll: boolean;
  /** The limit of an entry that says none; nothing where that is not known. */
  readonly unsaidLimit: 1 | undefined;
  /** A value stays as it is: with a change the one watch of who waits behind would be used up. */
  readonly keepsValues: boolean;
  /** A writer of others may turn into a reader and leave nothing written on its node, as ours do. */
  readonly turnsUnwritten: boolean;
  /** Whether the queue's directory stays when it is empty. */
  readonly keepsDirectory: boolean;
  /** Curator sorts all children by what follows the last of these, or else by the whole name; none where it does not. */
  readonly sortsAfter: readonly Mark[];
}

/** As a UUID is written; an id of another length as it is. */
function asUuid(id: string): string {
  if (id.length !== 32) return id;
  return `${id.slice(0, 8)}-${id.slice(8, 12)}-${id.slice(12, 16)}-${id.slice(16, 20)}-${id.slice(20)}`;
}

const CURATOR: NameStyle = {
  prefix: (id) => `_c_${asUuid(id)}-`,
  takes: (permits, limit) => `${permits}of${limit}-`,
  since: (token) => `since${token.toString(16)}-`,
  reads: {
    prefix: '(_c_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}-)',
    takes: '(?:([1-9]\\d*)of([1-9]\\d*)-)?',
    since: 'since([0-9a-f]+)-',
  },
};

const KAZOO: NameStyle = {
  prefix: (id) => id,
  takes: (permits, limit) => `-${permits}of${limit}-`,
  since: (token) => `-since${token.toString(16)}-`,
  reads: {
    prefix: '([0-9a-f]{32})',
    takes: '(?:-([1-9]\\d*)of([1-9]\\d*)-)?',
    since: '-since([0-9a-f]+)-',
  },
};

const FAST: NameStyle = {
  prefix: () => '',
  takes: () => '',
  since: () => '',
  reads: { prefix: '()', takes: '()()', since: '()' },
};

const PLAIN = {
  style: CURATOR,
  others: [],
  idIsInText: false,
  countsAll: false,
  unsaidLimit: 1,
  keepsValues: false,
  turnsUnwritten: false,
  keepsDirectory: false,
  sortsAfter: [],
} as const;

const SCHEMES: ReadonlyMap<unknown, Scheme> = new Map(
  [
    described('curator', { ...PLAIN, exclusive: 'lock-', shared: 'shared-lock-', sortsAfter: ['lock-'] }),
    described('curator-read-write', {
      ...PLAIN,
      exclusive: '__WRIT__',
      shared: '__READ__',
      turnsUnwritten: true,
      sortsAfter: ['__READ__', '__WRIT__'],
    }),
    described('curator-latch', {
      ...PLAIN,
      exclusive: 'latch-',
      shared: undefined,
      keepsValues: true,
      sortsAfter: ['latch-'],
    }),
    described('curator-lease', {
      ...PLAIN,
      exclusive: 'lease-',
      shared: undefined,
      countsAll: true,
      unsaidLimit: undefined,
    }),
    described('kazoo', {
      ...PLAIN,
      style: KAZOO,
      exclusive: '__lock__',
      shared: '__rlock__',
      keepsDirectory: true,
    }),
    described('fast', {
      ...PLAIN,
      style: FAST,
      exclusive: '__fast__',
      shared: undefined,
      idIsInText: true,
      // Numbers that began anew would give the names of earlier entries, and their traces, to later ones.
      keepsDirectory: true,
    }),
    described('curator+kazoo', {
      ...PLAIN,
      exclusive: 'lock-',
      shared: 'shared-lock-',
      others: ['__lock__'],
      keepsDirectory: true,
      sortsAfter: ['lock-', '__lock__'],
    }),
  ].map((scheme) => [scheme.naming, scheme]),
);

function described(naming: Naming, scheme: Omit<Scheme, 'naming' | 'shape' | 'readerShape'>): Scheme {
  const { prefix, takes, since } = scheme.style.reads;
  const shape = new RegExp(`^${prefix}${takes}${scheme.exclusive}(-?\\d+)$`);
  const readerShape = new RegExp(`^${prefix}${since}${scheme.shared ?? ''}(-?\\d+)$`);
  return { naming, shape, readerShape, ...scheme };
}

/** Also of what is no queue of a user; see `gate.ts`. */
export const DEFAULT_NAMING: Naming = 'curator';

/** @throws {QueueLockError} `INVALID_ARGUMENT` for a naming that there is not; `where` says whose it is. */
export function schemeOf(naming: Naming, where = ''): Scheme {
  const scheme = SCHEMES.get(naming);
  if (scheme) return scheme;
  throw invalidArgument(`naming${where}`, naming, `is one of ${[...SCHEMES.keys()].join(', ')}`);
}
