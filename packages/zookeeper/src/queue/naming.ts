/**
 * The naming schemes of entries, with one description each. All differences between schemes are in these descriptions.
 *
 * Formats and rules: Curator's LockInternals, InterProcessReadWriteLock, LeaderLatch and InterProcessSemaphoreV2, and kazoo's
 * recipe/lock.py.
 */
import { invalidArgument, optionOfQueue } from '@queuelock/core/backend';
import type { Mark } from './marks.ts';

/**
 * The naming scheme of a queue's entries. It decides which other software can share the queue:
 *
 * - `curator`: InterProcessMutex and LeaderSelector. Only this package has readers; Curator's clients wait for them.
 * - `curator-read-write`: both sides of InterProcessReadWriteLock.
 * - `curator-latch`: LeaderLatch. It has no readers, and values never change.
 * - `curator-lease`: the `leases` directory of InterProcessSemaphoreV2, where every child counts; see `curatorSemaphore` of
 *   `@queuelock/recipes`.
 * - `kazoo`: Lock, WriteLock, ReadLock and Election. Directories are not removed.
 * - `fast`: exclusive locks of this package only. Entering a long queue costs no more than entering a short one. Directories are not
 *   removed.
 * - `curator+kazoo`: both, after each was configured with the names of the other. Only this package has readers.
 */
export type Naming =
  | 'curator'
  | 'curator-read-write'
  | 'curator-latch'
  | 'curator-lease'
  | 'kazoo'
  | 'curator+kazoo'
  | 'fast';

/** How those parts of an entry's name are written that precede the mark (see `marks.ts`). */
interface NameStyle {
  /** Returns the part that contains the entry's id, by which it is found again. Not used by a naming whose names contain only a number. */
  readonly prefix: (id: string) => string;
  /** Returns the part that contains the permits and the limit. */
  readonly permits: (permits: number, limit: number) => string;
  /** Returns the part of a reader's name that contains the fencing token that it had as a writer. */
  readonly since: (token: bigint) => string;
  /**
   * Regular expressions for the parts of a name before the mark. `prefix` has one group, `permits` has two
   * (permits and limit), and `since` has one (the token).
   */
  readonly reads: { readonly prefix: string; readonly permits: string; readonly since: string };
}

/** The rules of one naming scheme. */
export interface Scheme {
  readonly naming: Naming;
  readonly style: NameStyle;
  /** Matches the name of an exclusive entry of this package, with groups for prefix, permits, limit and number. */
  readonly shape: RegExp;
  /** Matches the name of a reader of this package that was a writer, with groups for prefix, token and number. */
  readonly readerShape: RegExp;
  /** The mark of a new exclusive entry. */
  readonly exclusive: Mark;
  /** The mark of a new shared entry; `undefined` where other clients have no shared entries. */
  readonly shared: Mark | undefined;
  /** Marks that clients of other software give to their exclusive entries in the queue, besides the mark `exclusive`. */
  readonly others: readonly Mark[];
  /**
   * Whether the name of an entry contains nothing but a number, so that a client can compute the name of the
   * entry before it. The id of the entry is then in the node's content. Such a naming has locks only, without
   * limits and permits.
   */
  readonly idIsInText: boolean;
  /** Whether every child of the directory counts as an entry, whatever its name. */
  readonly countsAll: boolean;
  /** The limit of an entry whose name contains no limit. `undefined` if such an entry may have any limit. */
  readonly defaultLimit: 1 | undefined;
  /**
   * Whether the value of an entry must not change. The waiters of other software set a watch on the entry only once. A change would trigger
   * it, and they would miss the removal.
   */
  readonly keepsValues: boolean;
  /**
   * Whether other software converts a writer to a reader without writing to the writer's node. This package always writes to it first.
   */
  readonly convertsWithoutWrite: boolean;
  /** Whether the directory of a queue stays when the queue is empty. */
  readonly keepsDirectory: boolean;
  /**
   * The marks for Curator's sorting: it sorts children by the part of the name after the last of these marks, or else by the whole name. Empty if
   * Curator does not use this naming.
   */
  readonly sortsAfter: readonly Mark[];
}

/** Formats an id as a UUID. An id of another length is unchanged. */
function asUuid(id: string): string {
  if (id.length !== 32) return id;
  return `${id.slice(0, 8)}-${id.slice(8, 12)}-${id.slice(12, 16)}-${id.slice(16, 20)}-${id.slice(20)}`;
}

const CURATOR: NameStyle = {
  prefix: (id) => `_c_${asUuid(id)}-`,
  permits: (permits, limit) => `${permits}of${limit}-`,
  since: (token) => `since${token.toString(16)}-`,
  reads: {
    prefix: '(_c_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}-)',
    permits: '(?:([1-9]\\d*)of([1-9]\\d*)-)?',
    since: 'since([0-9a-f]+)-',
  },
};

const KAZOO: NameStyle = {
  prefix: (id) => id,
  permits: (permits, limit) => `-${permits}of${limit}-`,
  since: (token) => `-since${token.toString(16)}-`,
  reads: {
    prefix: '([0-9a-f]{32})',
    permits: '(?:-([1-9]\\d*)of([1-9]\\d*)-)?',
    since: '-since([0-9a-f]+)-',
  },
};

const FAST: NameStyle = {
  prefix: () => '',
  permits: () => '',
  since: () => '',
  reads: { prefix: '()', permits: '()()', since: '()' },
};

const PLAIN = {
  style: CURATOR,
  others: [],
  idIsInText: false,
  countsAll: false,
  defaultLimit: 1,
  keepsValues: false,
  convertsWithoutWrite: false,
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
      convertsWithoutWrite: true,
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
      defaultLimit: undefined,
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
      // The directory stays when it is empty. In a new directory, the numbers would start again, so later
      // entries would have the names and the traces of earlier entries.
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
  const { prefix, permits, since } = scheme.style.reads;
  const shape = new RegExp(`^${prefix}${permits}${scheme.exclusive}(-?\\d+)$`);
  const readerShape = new RegExp(`^${prefix}${since}${scheme.shared ?? ''}(-?\\d+)$`);
  return { naming, shape, readerShape, ...scheme };
}

/** The default naming. The queue of the gate uses it as well; see `gate.ts`. */
export const DEFAULT_NAMING: Naming = 'curator';

/**
 * Returns the description of a naming.
 * @param where the queue of the naming, for the message
 * @throws {QueueLockError} `INVALID_ARGUMENT` for an unknown naming
 */
export function schemeOf(naming: Naming, where = ''): Scheme {
  const scheme = SCHEMES.get(naming);
  if (scheme) return scheme;
  throw invalidArgument(`naming${where}`, naming, `is one of ${[...SCHEMES.keys()].join(', ')}`);
}

/**
 * Converts the option `naming` to a function that returns the scheme of a queue. If the option is a function of the caller, the returned
 * function throws `INVALID_ARGUMENT` when the caller's function throws or returns an unknown naming.
 * @throws {QueueLockError} `INVALID_ARGUMENT` if the option is an unknown naming
 */
export function schemesOf(
  naming: Naming | ((queue: string) => Naming) = DEFAULT_NAMING,
): (queue: string) => Scheme {
  if (typeof naming === 'function') {
    const namingIn = optionOfQueue('naming', naming);
    return (queue) => schemeOf(namingIn(queue), `(${JSON.stringify(queue)})`);
  }
  const scheme = schemeOf(naming);
  return () => scheme;
}
