import type { IResponseHeader } from 'etcd3';
import { Machine, type Timeline } from '../timeline.ts';
import type { Cluster } from './cluster.ts';
import { Lessor } from './lessor.ts';
import type { Store } from './store.ts';

/** One stream that a client has open here. */
export interface ServedStream {
  /** The member has read on. */
  applied(): void;
  /** Tells the client that it is over. */
  end(reason: string): void;
}

/** How a member's machine is, and what it says of itself. */
export interface MemberOptions {
  readonly number: number;
  readonly rate: number;
  readonly version: string;
}

const MOMENT_MS = 0.3;

/** One member: how far it has read the log, whom it takes for the leader, and which streams it serves. */
export class Member {
  readonly id: string;
  readonly host: string;
  readonly version: string;
  readonly machine: Machine;
  readonly lessor: Lessor;
  readonly streams = new Set<ServedStream>();
  /** The place in the log up to which it has read. */
  applied = 0;
  /** The revision before which it has forgotten what was. */
  compacted = 0;
  /** The term that it knows. */
  term = 0;
  /** Whether it believes that it leads. One that was paused may do so for a while after another one was elected. */
  leads = false;
  isUp = true;
  /** Whether the other members cannot be reached. */
  isCut = false;
  /** How much later it reads than others. */
  lagMs = 0;
  readonly #cluster: Cluster;
  readonly #timeline: Timeline;
  /** When it has read on last. */
  #appliedAt = -Infinity;
  readonly #waiting: { readonly index: number; readonly go: () => void }[] = [];

  constructor(cluster: Cluster, timeline: Timeline, { number, rate, version }: MemberOptions) {
    this.#cluster = cluster;
    this.#timeline = timeline;
    this.id = String(100 + number);
    this.host = `member${number}:2379`;
    this.version = version;
    this.machine = new Machine(timeline, `member${number}`, { rate, bootedAt: 1_000 * number });
    this.lessor = new Lessor(this.machine);
  }

  get store(): Store {
    return this.#cluster.store;
  }

  /** The store's, as far as it has read. */
  get revision(): number {
    return this.#cluster.revisionAt(this.applied);
  }

  /** Whether it has read on a moment ago. */
  get isReading(): boolean {
    return this.#timeline.now() - this.#appliedAt < MOMENT_MS;
  }

  /** Whether it hears of a leader. */
  get knowsLeader(): boolean {
    return this.#cluster.terms.knownTo(this);
  }

  header(revision: number = this.revision): IResponseHeader {
    return {
      cluster_id: '7',
      member_id: this.id,
      revision: String(revision),
      raft_term: String(this.term),
    };
  }

  /** For how long it will stand still. */
  pausedMs(now: number): number {
    return Math.max(0, this.machine.pausedUntil - now);
  }

  /** Reads the log up to there, some time later. */
  learn(index: number, withinMs: number): void {
    this.machine.after(withinMs + this.lagMs, () => {
      if (this.isCut && this !== this.#cluster.terms.leader) return;
      this.apply(index);
    });
  }

  /** Reads one entry after the other, and tells of each. */
  apply(index: number): void {
    while (this.applied < index) {
      this.applied += 1;
      this.#appliedAt = this.#timeline.now();
      const compacted = this.#cluster.compactionAt(this.applied);
      if (compacted !== undefined) {
        this.compacted = compacted;
        this.#cluster.forget();
      }
      for (const stream of this.streams) stream.applied();
    }
    for (const one of this.#waiting.filter((other) => other.index <= this.applied)) {
      this.#waiting.splice(this.#waiting.indexOf(one), 1);
      one.go();
    }
  }

  whenApplied(index: number, go: () => void): void {
    if (index <= this.applied) go();
    else this.#waiting.push({ index, go });
  }

  /** Loses everything but its log. */
  crash(): void {
    this.isUp = false;
    this.leads = false;
    this.lessor.end();
    this.#waiting.splice(0);
    for (const stream of [...this.streams]) stream.end('connection reset by peer');
    this.streams.clear();
    this.machine.crash();
  }
}
