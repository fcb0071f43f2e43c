import type { Ensemble } from './ensemble.ts';
import type { Following } from './following.ts';
import type { Member } from './member.ts';
import { Code, prepare, type Step } from './prepare.ts';
import { Tracker } from './tracker.ts';
import { CONTAINER, type Change, type Node, type Tree } from './tree.ts';

/**
 * A transaction of the log. It takes effect when a majority has it. A failed transaction has an id, too, but
 * changes nothing.
 */
export interface Entry {
  readonly zxid: bigint;
  readonly changes: readonly Change[];
  /** Session of the request; 0 if the transaction belongs to no session. */
  readonly by: bigint;
  /**
   * How the member that received the request responds to it, once that member has applied the transaction.
   */
  readonly done: Done | undefined;
  /**
   * Whether another member may have received the transaction, so that it may survive a change of the leader.
   */
  readonly isSpread: boolean;
}

/** How a member will respond to a request whose transaction is still in progress. */
export interface Done {
  readonly member: Member;
  /**
   * Number of the serving period of the member that received the request. A new period begins each time the
   * member starts to serve. The member responds only to requests of its present period.
   */
  readonly period: number;
  /**
   * Sends the response. `nodes` contains, for each change of the transaction, the changed node right after
   * that change.
   */
  readonly go: (nodes: readonly (Node | undefined)[]) => void;
}

/** Where a write comes from: the session, and the member that received the request. */
export interface Origin {
  readonly member: Member;
  readonly session: bigint;
  readonly isDenied: boolean;
}

/** The result of a write. The member that received the request reports it after applying the write. */
export type Outcome =
  | { readonly code: 0; readonly paths: readonly string[] }
  | { readonly code: number; readonly failed: number };

const AGAIN_MS = 50;
const NO_SESSION = 0n;

/** The role of a member while it leads, or still believes that it leads. */
export class Leading {
  readonly member: Member;
  readonly epoch: bigint;
  readonly tracker: Tracker;
  readonly followings = new Set<Following>();
  /** Transactions that are not committed yet, in order. */
  readonly pending: Entry[] = [];
  tick = 0;
  isOver = false;
  readonly #ensemble: Ensemble;
  /** The tree as it will be when all proposed transactions are committed. */
  readonly tree: Tree;
  #zxid: bigint;
  readonly #syncs = new Map<bigint, (() => void)[]>();

  /** Makes the member the leader, after it has applied everything that is committed. */
  constructor(ensemble: Ensemble, member: Member, epoch: bigint) {
    this.#ensemble = ensemble;
    this.member = member;
    this.epoch = epoch;
    this.#zxid = epoch << 32n;
    this.tree = member.tree.copy();
    const { tickMs } = ensemble.options;
    this.tracker = new Tracker(member.machine, tickMs, this.tree.sessions);
    this.#beat();
    this.#expire();
    this.#sweep();
  }

  /** Proposes a transaction that makes all of the changes in `steps` or none of them. */
  change(
    origin: Origin,
    steps: readonly Step[],
    report: (outcome: Outcome, nodes: readonly (Node | undefined)[]) => void,
  ): void {
    const { session, member } = origin;
    const right = this.tracker.check(session, member);
    const prepared =
      right === 'right'
        ? prepare(this.tree, steps, origin)
        : { failed: 0, code: right === 'moved' ? Code.sessionMoved : Code.sessionExpired };
    const outcome: Outcome = 'code' in prepared ? prepared : { code: Code.ok, paths: prepared.paths };
    const done = {
      member,
      period: member.period,
      go: (nodes: readonly (Node | undefined)[]) => report(outcome, nodes),
    };
    this.#propose({ by: session, changes: 'code' in prepared ? [] : prepared.changes }, done);
  }

  begin(origin: Omit<Origin, 'isDenied'>, timeoutMs: number, go: () => void): void {
    const { member, session } = origin;
    this.tracker.track(session, timeoutMs, member);
    const change: Change = { type: 'begin session', session, timeoutMs };
    this.#propose({ by: session, changes: [change] }, { member, period: member.period, go });
  }

  /** Proposes the end of a session. Later requests of the session are ignored. */
  end(session: bigint, done?: Done): void {
    this.tracker.close(session);
    this.#propose({ by: session, changes: [{ type: 'end session', session }] }, done);
  }

  /**
   * Makes a change that belongs to no session, such as the removal of an empty container. Once the change is
   * committed, calls `tell` with the path of the changed node. If the change fails, calls `tell` with
   * `undefined`.
   */
  operate(step: Step, tell: (path: string | undefined) => void): void {
    const prepared = prepare(this.tree, [step], { session: NO_SESSION, isDenied: false });
    if ('code' in prepared) tell(undefined);
    else {
      const { member } = this;
      const done = { member, period: member.period, go: () => tell(prepared.paths[0]) };
      this.#propose({ by: NO_SESSION, changes: prepared.changes }, done);
    }
  }

  /**
   * Handles a `sync` request. If no transaction is in flight, the leader responds without contacting other
   * members. So a leader responds even if it was deposed without noticing.
   */
  sync(go: () => void): void {
    const last = this.pending.at(-1);
    if (!last) go();
    else this.#syncs.set(last.zxid, [...(this.#syncs.get(last.zxid) ?? []), go]);
  }

  /** Ends the leadership of the member. */
  stop(): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const following of [...this.followings]) following.end();
  }

  #propose({ changes, by }: Pick<Entry, 'changes' | 'by'>, done: Done | undefined): void {
    this.#zxid += 1n;
    const isSpread = by !== NO_SESSION && this.#ensemble.reachesAny(this);
    const entry = { zxid: this.#zxid, changes, by, done, isSpread };
    this.tree.apply(changes, entry.zxid, () => undefined);
    this.pending.push(entry);
    this.#commit(
      entry,
      this.#ensemble.members.length > 1 ? this.#ensemble.hopMs() + this.#ensemble.hopMs() : 0,
    );
  }

  #commit(entry: Entry, ms: number): void {
    this.member.machine.after(ms, () => {
      if (this.isOver) return;
      if (!this.#ensemble.hasQuorum(this)) this.#commit(entry, AGAIN_MS);
      else
        while (this.pending[0] && this.pending[0].zxid <= entry.zxid)
          this.#append(this.pending.shift() as Entry);
    });
  }

  #append(entry: Entry): void {
    for (const change of entry.changes)
      if (change.type === 'end session') this.tracker.remove(change.session);
    this.#ensemble.append(entry);
    for (const go of this.#syncs.get(entry.zxid) ?? []) go();
    this.#syncs.delete(entry.zxid);
  }

  /**
   * Requests the followers' active sessions every half tick. At every tick, checks which followers have
   * responded.
   */
  #beat(isWhole = false): void {
    const { tickMs, syncLimit } = this.#ensemble.options;
    this.member.machine.after(tickMs / 2, () => {
      if (this.isOver) return;
      if (isWhole) this.tick += 1;
      for (const following of [...this.followings])
        if (following.deadline < this.tick) following.end();
        else following.ping(this.tick + syncLimit);
      const isAlone = 2 * (this.followings.size + 1) <= this.#ensemble.members.length;
      if (isWhole && isAlone) this.member.read();
      else this.#beat(!isWhole);
    });
  }

  #expire(): void {
    const { machine } = this.member;
    const { tickMs } = this.#ensemble.options;
    machine.after(tickMs - (machine.now() % tickMs), () => {
      if (this.isOver) return;
      for (const session of this.tracker.expired) this.end(session);
      this.#expire();
    });
  }

  /** Removes empty containers at regular intervals. */
  #sweep(): void {
    this.member.machine.after(this.#ensemble.options.containersEveryMs, () => {
      if (this.isOver) return;
      for (const [path, { owner, made, children }] of this.tree.nodes) {
        if (owner !== CONTAINER || made === 0 || children.size > 0) continue;
        this.operate({ type: 'delete container', path }, () => undefined);
      }
      this.#sweep();
    });
  }
}
