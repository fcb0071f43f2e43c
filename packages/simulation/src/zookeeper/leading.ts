import type { Ensemble } from './ensemble.ts';
import type { Following } from './following.ts';
import type { Member } from './member.ts';
import { Code, prepare, type Step } from './prepare.ts';
import { Tracker } from './tracker.ts';
import { CONTAINER, type Change, type Node, type Tree } from './tree.ts';

/** One transaction: it takes effect when most members have it. One that failed has an id, and does nothing. */
export interface Entry {
  readonly zxid: bigint;
  readonly changes: readonly Change[];
  /** Whose request it was; 0 for nobody's. */
  readonly by: bigint;
  /** Called where it was asked for, when that member has come so far. */
  readonly done: Done | undefined;
  /** Whether any other member may have it before it is committed. */
  readonly isSpread: boolean;
}

/** Who waits for a transaction. */
export interface Done {
  readonly member: Member;
  /** A member that has stopped serving meanwhile answers nothing. */
  readonly period: number;
  /** With the node of each change, as it was right after it. */
  readonly go: (nodes: readonly (Node | undefined)[]) => void;
}

/** Whose request it is, and by which member it came. */
export interface Origin {
  readonly member: Member;
  readonly session: bigint;
  readonly isDenied: boolean;
}

/** What became of a request that changes something, told when the member has come so far. */
export type Outcome =
  | { readonly code: 0; readonly paths: readonly string[] }
  | { readonly code: number; readonly failed: number };

const AGAIN_MS = 50;
const NOBODY = 0n;

/** What a member does while it leads, or still believes so. */
export class Leading {
  readonly member: Member;
  readonly epoch: bigint;
  readonly tracker: Tracker;
  readonly followings = new Set<Following>();
  /** Not committed yet, in their order. */
  readonly pending: Entry[] = [];
  tick = 0;
  isOver = false;
  readonly #ensemble: Ensemble;
  /** With all that was proposed. */
  readonly tree: Tree;
  #zxid: bigint;
  readonly #syncs = new Map<bigint, (() => void)[]>();

  /** The member has applied all that is committed. */
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

  /** Carries the steps out, all of them or none. */
  change(
    origin: Origin,
    steps: readonly Step[],
    tell: (outcome: Outcome, nodes: readonly (Node | undefined)[]) => void,
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
      go: (nodes: readonly (Node | undefined)[]) => tell(outcome, nodes),
    };
    this.#propose({ by: session, changes: 'code' in prepared ? [] : prepared.changes }, done);
  }

  begin(origin: Omit<Origin, 'isDenied'>, timeoutMs: number, go: () => void): void {
    const { member, session } = origin;
    this.tracker.track(session, timeoutMs, member);
    const change: Change = { type: 'begin session', session, timeoutMs };
    this.#propose({ by: session, changes: [change] }, { member, period: member.period, go });
  }

  /** Ends a session; nothing is taken from it after that. */
  end(session: bigint, done?: Done): void {
    this.tracker.close(session);
    this.#propose({ by: session, changes: [{ type: 'end session', session }] }, done);
  }

  /** Does what somebody without a session wants; tells the path when it is committed, or none when it cannot be done. */
  operate(step: Step, tell: (path: string | undefined) => void): void {
    const prepared = prepare(this.tree, [step], { session: NOBODY, isDenied: false });
    if ('code' in prepared) tell(undefined);
    else {
      const { member } = this;
      const done = { member, period: member.period, go: () => tell(prepared.paths[0]) };
      this.#propose({ by: NOBODY, changes: prepared.changes }, done);
    }
  }

  /** Answers by itself where nothing is under way, whoever else may lead by now. */
  sync(go: () => void): void {
    const last = this.pending.at(-1);
    if (!last) go();
    else this.#syncs.set(last.zxid, [...(this.#syncs.get(last.zxid) ?? []), go]);
  }

  /** It leads no more. */
  stop(): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const following of [...this.followings]) following.end();
  }

  #propose({ changes, by }: Pick<Entry, 'changes' | 'by'>, done: Done | undefined): void {
    this.#zxid += 1n;
    const isSpread = by !== NOBODY && this.#ensemble.reachesAny(this);
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

  /** Every half tick it asks its followers whom they have heard from; every tick it counts those that answer. */
  #beat(isWhole = false): void {
    const { tickMs, syncLimit } = this.#ensemble.options;
    this.member.machine.after(tickMs / 2, () => {
      if (this.isOver) return;
      if (isWhole) this.tick += 1;
      for (const following of [...this.followings])
        if (following.deadline < this.tick) following.end();
        else following.ping(this.tick + syncLimit);
      const isAlone = 2 * (this.followings.size + 1) <= this.#ensemble.members.length;
      if (isWhole && isAlone) this.member.look();
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

  /** Removes containers that were left empty. */
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
