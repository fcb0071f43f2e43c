import { Machine, type Timeline } from '../timeline.ts';
import type { Connection } from './connection.ts';
import type { Ensemble } from './ensemble.ts';
import type { Following } from './following.ts';
import type { Entry, Leading } from './leading.ts';
import { EventType, Tree } from './tree.ts';

type Watchers = Map<string, Set<Connection>>;

/**
 * One member of a simulated ZooKeeper ensemble: its connections, and its copy of the tree, up to the
 * transaction of the log that it has applied last.
 */
export class Member {
  readonly host: string;
  readonly machine: Machine;
  readonly ensemble: Ensemble;
  readonly connections = new Set<Connection>();
  tree = new Tree();
  isUp = true;
  /** Whether the member is cut off from the other members. */
  isCut = false;
  /** Additional delay in milliseconds before the member applies transactions. */
  lagMs = 0;
  /**
   * Number of the present period in which the member serves clients. It increases each time the member starts
   * to serve.
   */
  period = 0;
  leading: Leading | undefined;
  following: Following | undefined;
  lookingSince = 0;
  readonly #timeline: Timeline;
  readonly #number: number;
  readonly #data: Watchers = new Map();
  readonly #child: Watchers = new Map();
  readonly #touched = new Set<bigint>();
  #applied = 0;
  #sessions = 0n;

  constructor(
    ensemble: Ensemble,
    timeline: Timeline,
    { number, rate }: { readonly number: number; readonly rate: number },
  ) {
    this.ensemble = ensemble;
    this.#timeline = timeline;
    this.#number = number;
    this.host = `10.0.0.${number}:2181`;
    this.machine = new Machine(timeline, `member${number}`, { rate, bootedAt: 1_000 * number });
  }

  /** Whether the member believes that it leads. */
  get leads(): boolean {
    return this.leading !== undefined;
  }

  get isLooking(): boolean {
    return this.isUp && !this.leading && !this.following;
  }

  get isServing(): boolean {
    return this.isUp && !this.isLooking;
  }

  lead(leading: Leading): void {
    this.leading = leading;
    this.period += 1;
  }

  follow(following: Following): void {
    this.following = following;
    this.period += 1;
  }

  /** Leaves the leader, or stops leading. The member serves no client until there is a leader. */
  read(): void {
    const { leading, following } = this;
    this.leading = undefined;
    this.following = undefined;
    this.lookingSince = this.#timeline.now();
    this.#data.clear();
    this.#child.clear();
    this.#touched.clear();
    for (const connection of [...this.connections]) connection.hangUp();
    leading?.stop();
    following?.left();
  }

  /** Ends the process of the member, which loses everything except its log. */
  crash(): void {
    this.isUp = false;
    const { leading, following } = this;
    this.read();
    following?.end();
    leading?.stop();
    this.machine.crash();
  }

  /** Applies the transactions that the member has missed. It serves clients after that. */
  catchUp(log: readonly Entry[], epoch: bigint): void {
    for (const entry of log.slice(this.#applied)) this.tree.apply(entry.changes, entry.zxid, () => undefined);
    this.#applied = log.length;
    this.tree.zxid = epoch << 32n > this.tree.zxid ? epoch << 32n : this.tree.zxid;
  }

  /**
   * Applies one transaction of the log. `end` is the number of transactions up to and including this one.
   * Triggers watches, and then sends the response to the client that requested the change.
   */
  apply({ changes, zxid, done }: Entry, end: number): void {
    if (end <= this.#applied) return;
    this.#applied = end;
    const nodes = this.tree.apply(changes, zxid, (path, type) => this.#trigger(path, type));
    if (done?.member === this && done.period === this.period) done.go(nodes);
    for (const change of changes) if (change.type === 'end session') this.#hangUp(change.session);
  }

  /**
   * Runs `task` at the leader, which may be this member. With the function `response`, the task can run code
   * at this member again, over the same connection.
   */
  ask(task: (leading: Leading, response: (back: () => void) => void) => void): void {
    const { following, leading } = this;
    if (leading) task(leading, (back) => back());
    else following?.tell((leader) => task(leader, (back) => following.hear(back)));
  }

  /** Renews a session. Returns `false` if the member knows that the session has ended. */
  touch(session: bigint): boolean {
    if (this.leading) return this.leading.tracker.touch(session);
    this.#touched.add(session);
    return true;
  }

  takeTouched(): readonly bigint[] {
    const touched = [...this.#touched];
    this.#touched.clear();
    return touched;
  }

  newSession(): bigint {
    this.#sessions += 1n;
    return (BigInt(this.#number) << 56n) + (BigInt(this.period) << 24n) + this.#sessions;
  }

  watch(kind: 'data' | 'child', path: string, connection: Connection): void {
    const watchers = kind === 'data' ? this.#data : this.#child;
    watchers.set(path, (watchers.get(path) ?? new Set()).add(connection));
  }

  forget(connection: Connection): void {
    this.connections.delete(connection);
    for (const watchers of [this.#data, this.#child])
      for (const connections of watchers.values()) connections.delete(connection);
  }

  /** Notifies the watches of a path. Each watch is triggered only once. */
  #trigger(path: string, type: (typeof EventType)[keyof typeof EventType]): void {
    const reported = new Set<Connection>();
    const kinds =
      type === EventType.child
        ? [this.#child]
        : type === EventType.deleted
          ? [this.#data, this.#child]
          : [this.#data];
    for (const watchers of kinds) {
      for (const connection of watchers.get(path) ?? []) reported.add(connection);
      watchers.delete(path);
    }
    for (const connection of reported) connection.event(path, type);
  }

  #hangUp(session: bigint): void {
    for (const connection of [...this.connections]) if (connection.session === session) connection.hangUp();
  }
}
