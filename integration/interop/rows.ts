// What stands in one line: the tables that the tests and the long run go by.
import type { Kind } from './kinds.ts';
import { etcd } from './rows-etcd.ts';
import { zooKeeper } from './rows-zookeeper.ts';

/** Who contends for one name. */
export interface Mix {
  readonly title: string;
  readonly parties: readonly Party[];
  /** A semaphore of so many permits, which is a queue of those who want some and one of those who have some. */
  readonly permits?: number;
  /** Part of the short form. */
  readonly short?: true;
  /** What is not one line: it has to go wrong. */
  readonly control?: true;
}

interface Party {
  readonly kind: Kind;
  readonly count: number;
}

/** Who stands in a line in which holders and waiters stop: each pair one after the other. */
export interface Line {
  readonly title: string;
  readonly pairs: readonly Pair[];
  /** A semaphore of one permit. */
  readonly permits?: 1;
  /** At the end. */
  readonly last: Kind;
  readonly short?: true;
}

interface Pair {
  readonly holder: Kind;
  readonly waiter?: Kind;
}

/** Candidates, each of them twice, and those who look on. */
export interface Election {
  readonly title: string;
  readonly candidates: readonly Kind[];
  readonly observers: readonly Kind[];
}

export interface Rows {
  readonly mixes: readonly Mix[];
  readonly lines: readonly Line[];
  readonly elections: readonly Election[];
}

/** By the store's name. */
export const rows: Readonly<Record<string, Rows>> = { etcd, ZooKeeper: zooKeeper };

/** The queues of a name, that for waiters first. */
export function queuesOf(name: string, { permits }: Pick<Mix, 'permits'>): [string, string] | [string] {
  return permits === undefined ? [name] : [`${name}/locks`, `${name}/leases`];
}
