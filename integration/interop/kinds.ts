import type { Naming } from '@queuelock/zookeeper';
import type { CommandLine, Language } from './programs.ts';

/** A kind of participant: a recipe of some library. */
export interface Kind {
  readonly title: string;
  readonly language: Language;
  /** A program that is not in this repository, instead of that of the language. */
  readonly command?: CommandLine;
  /** Name of the recipe in its program. */
  readonly recipe: string;
  /** Naming of our entries; on etcd `fast` or nothing. */
  readonly naming?: Naming;
  /** Whether it holds together with others of these kinds. */
  readonly shared?: true;
  /** Whether it never waits in the queue, so that it runs for as long as the others do. */
  readonly visits?: true;
  /** Whether it continues after a loss, because its library does not notify it. */
  readonly deaf?: true;
}

const kind = (language: Language, recipe: string, title: string): Kind => ({ title, language, recipe });

// --- our recipes

export const ours: Kind = kind('Node', 'mutex', 'ours');
export const oursReader: Kind = { ...kind('Node', 'read', 'our reader'), shared: true };
export const oursElection: Kind = kind('Node', 'election', 'our election');
export const oursObserver: Kind = kind('Node', 'observe', 'our leader$');
export const oursVisitor: Kind = { ...kind('Node', 'trylock', 'our tryAcquire'), visits: true };

export const oursSemaphore = (limit: number): Kind => kind('Node', `semaphore-${limit}`, 'our semaphore');

/** Returns the same kind with another naming. */
export const named = (naming: Naming, of: Kind): Kind => ({ ...of, naming });

// --- etcd

export const goMutex: Kind = kind('Go', 'mutex', 'Go Mutex');
export const goElection: Kind = kind('Go', 'election', 'Go Election');
export const goService: Kind = kind('Go', 'v3lock', 'v3lock');
export const goVisitor: Kind = { ...kind('Go', 'trylock', 'Go TryLock'), visits: true };
export const goObserver: Kind = kind('Go', 'observe', 'Go Observe');
/** Its command runs to its end, even if the lease expires. */
export const etcdctl: Kind = { ...kind('Go', 'etcdctl', 'etcdctl lock'), deaf: true };

// --- Consul

/** Our entries of a queue with a single key, which Consul's own clients lock. */
export const oursSingleKey: Kind = kind('Node', 'single-key', 'ours with singleKey');
export const goLock: Kind = kind('Go, Consul', 'lock', 'Go Lock of Consul');

// --- ZooKeeper

export const curatorMutex: Kind = kind('Java', 'mutex', 'Curator mutex');
export const curatorReader: Kind = { ...kind('Java', 'read', 'Curator reader'), shared: true };
export const curatorWriter: Kind = kind('Java', 'write', 'Curator writer');
export const curatorSemaphore = (limit: number): Kind =>
  kind('Java', `semaphore-${limit}`, 'Curator semaphore');
export const curatorSelector: Kind = kind('Java', 'selector', 'Curator selector');
export const selectorObserver: Kind = kind('Java', 'observe-selector', 'Curator selector, asked');
export const curatorLatch: Kind = kind('Java', 'latch', 'Curator latch');
export const latchObserver: Kind = kind('Java', 'observe-latch', 'Curator latch, asked');
/** A mutex that creates and sorts kazoo's names. */
export const curatorTaughtKazoo: Kind = kind('Java', 'mutex-kazoo', 'Curator mutex, kazoo’s names');
/** A mutex that sorts kazoo's names too. */
export const curatorTaughtBoth: Kind = kind('Java', 'mutex-both', 'Curator mutex, both names');

export const kazooLock: Kind = kind('Python', 'lock', 'kazoo Lock');
export const kazooWriter: Kind = kind('Python', 'write', 'kazoo WriteLock');
/** With `extra_lock_patterns`. */
export const kazooExtra: Kind = kind('Python', 'extra-lock', 'kazoo Lock, extra pattern');
/** Curator's names: the example of @queuelock/zookeeper. */
export const kazooCurator: Kind = kind('Python', 'curator-lock', 'kazoo, Curator’s names');
export const kazooCuratorWriter: Kind = kind('Python', 'curator-write', 'kazoo, Curator’s writer');
