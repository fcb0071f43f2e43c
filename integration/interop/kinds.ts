import type { Naming } from '@queuelock/zookeeper';
import type { CommandLine, Language } from './programs.ts';

/** A kind of participant: one recipe of one library. */
export interface Kind {
  readonly title: string;
  readonly language: Language;
  /**
   * A command from outside of this repository that runs the participant, instead of the test's program for
   * the language.
   */
  readonly command?: CommandLine;
  /** Name of the recipe, as the participant's program expects it. */
  readonly recipe: string;
  /** Format of the keys or nodes of queuelock's entries. On etcd it is `fast` or left out. */
  readonly naming?: Naming;
  /** Whether the participant may hold at the same time as other participants with `shared: true`. */
  readonly shared?: true;
  /**
   * Whether the participant only tries to lock, and never waits in the queue. It repeats its attempts as long
   * as the other participants run.
   */
  readonly visits?: true;
  /** Whether the participant continues after a loss of the lock, because its library does not notify it. */
  readonly deaf?: true;
}

const kind = (language: Language, recipe: string, title: string): Kind => ({ title, language, recipe });

// --- kinds of participants that use queuelock

export const ours: Kind = kind('Node', 'mutex', 'ours');
export const oursReader: Kind = { ...kind('Node', 'read', 'our reader'), shared: true };
export const oursElection: Kind = kind('Node', 'election', 'our election');
export const oursObserver: Kind = kind('Node', 'observe', 'our leader$');
export const oursVisitor: Kind = { ...kind('Node', 'trylock', 'our tryAcquire'), visits: true };

export const oursSemaphore = (limit: number): Kind => kind('Node', `semaphore-${limit}`, 'our semaphore');

/** Returns a kind of participant that uses another format of keys or nodes than the given one. */
export const named = (naming: Naming, of: Kind): Kind => ({ ...of, naming });

// --- kinds of participants that use other clients of etcd

export const goMutex: Kind = kind('Go', 'mutex', 'Go Mutex');
export const goElection: Kind = kind('Go', 'election', 'Go Election');
export const goService: Kind = kind('Go', 'v3lock', 'v3lock');
export const goVisitor: Kind = { ...kind('Go', 'trylock', 'Go TryLock'), visits: true };
export const goObserver: Kind = kind('Go', 'observe', 'Go Observe');
/**
 * The command `etcdctl lock` lets its own command run to its end even if the lease expires. So this kind is
 * `deaf`: it continues after a loss of the lock.
 */
export const etcdctl: Kind = { ...kind('Go', 'etcdctl', 'etcdctl lock'), deaf: true };

// --- kinds of participants that contend for a single key in Consul

/** A claim of queuelock with a single key, which Consul's own clients lock too. */
export const oursSingleKey: Kind = kind('Node', 'single-key', 'ours with singleKey');
export const goLock: Kind = kind('Go, Consul', 'lock', 'Go Lock of Consul');

// --- kinds of participants that use other clients of ZooKeeper

export const curatorMutex: Kind = kind('Java', 'mutex', 'Curator mutex');
export const curatorReader: Kind = { ...kind('Java', 'read', 'Curator reader'), shared: true };
export const curatorWriter: Kind = kind('Java', 'write', 'Curator writer');
export const curatorSemaphore = (limit: number): Kind =>
  kind('Java', `semaphore-${limit}`, 'Curator semaphore');
export const curatorSelector: Kind = kind('Java', 'selector', 'Curator selector');
export const selectorObserver: Kind = kind('Java', 'observe-selector', 'Curator selector, asked');
export const curatorLatch: Kind = kind('Java', 'latch', 'Curator latch');
export const latchObserver: Kind = kind('Java', 'observe-latch', 'Curator latch, asked');
/**
 * A mutex of Apache Curator with a lock driver (a plug-in of Curator) that creates and sorts nodes with
 * kazoo's names.
 */
export const curatorTaughtKazoo: Kind = kind('Java', 'mutex-kazoo', 'Curator mutex, kazoo’s names');
/**
 * A mutex of Apache Curator with a lock driver (a plug-in of Curator) that sorts both Curator's and kazoo's
 * names.
 */
export const curatorTaughtBoth: Kind = kind('Java', 'mutex-both', 'Curator mutex, both names');

export const kazooLock: Kind = kind('Python', 'lock', 'kazoo Lock');
export const kazooWriter: Kind = kind('Python', 'write', 'kazoo WriteLock');
/** A kazoo lock whose option `extra_lock_patterns` makes it also count nodes with Curator's names. */
export const kazooExtra: Kind = kind('Python', 'extra-lock', 'kazoo Lock, extra pattern');
/** A kazoo lock with Curator's names: the example in the README of @queuelock/zookeeper. */
export const kazooCurator: Kind = kind('Python', 'curator-lock', 'kazoo, Curator’s names');
export const kazooCuratorWriter: Kind = kind('Python', 'curator-write', 'kazoo, Curator’s writer');
