import type { IResponseHeader } from 'etcd3';
import { Machine, type Timeline } from '../timeline.ts';
import { Lessor } from './lessor.ts';
import type { Store } from './store.ts';

/** A stream of a client that this member serves. */
export interface ServedStream {
  /** Called when the member has applied entries of the log, so that there may be new events. */
  applied(): void;
  /** Closes the stream and reports the reason to the client. */
  end(reason: string): void;
}

/** The functions of the cluster that a member calls. */
export interface MemberCluster {
  readonly store: Store;
  readonly terms: { readonly leader: Member | undefined; knownTo(member: Member): boolean };
  revisionAt(index: number): number;
  /**
   * Returns the revision up to which the log entry with the number `index` compacts the history. Returns
   * `undefined` if that entry is no compaction.
   */
  compactionAt(index: number): number | undefined;
  /** Drops the history that all members have compacted. */
  forget(): void;
}

/** The number of a member, the rate of its clock, and its etcd version. */
export interface MemberOptions {
  readonly number: number;
  readonly rate: number;
  readonly version: string;
}

const MOMENT_MS = 0.3;

/**
 * One member of a simulated etcd cluster: how far it has applied the log, which leader it knows, and which
 * streams it serves.
 */
export class Member {
  readonly id: string;
  readonly host: string;
  readonly version: string;
  readonly machine: Machine;
  readonly lessor: Lessor;
  readonly streams = new Set<ServedStream>();
  /** Index of the log up to which the member has applied entries. */
  applied = 0;
  /** Revision before which the member has compacted the history. */
  compacted = 0;
  /** The newest term that the member knows. */
  term = 0;
  /**
   * Whether the member believes that it leads. A member that was paused may believe so for a while after the
   * election of another leader.
   */
  leads = false;
  isUp = true;
  /** Whether the member is cut off from the other members. */
  isCut = false;
  /** Additional delay in milliseconds before the member applies new entries of the log. */
  lagMs = 0;
  readonly #cluster: MemberCluster;
  readonly #timeline: Timeline;
  /** When the member last applied log entries, in simulated time. */
  #appliedAt = -Infinity;
  readonly #waiting: { readonly index: number; readonly go: () => void }[] = [];

  constructor(cluster: MemberCluster, timeline: Timeline, { number, rate, version }: MemberOptions) {
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

  /** Revision of the store after the last log entry that the member has applied. */
  get revision(): number {
    return this.#cluster.revisionAt(this.applied);
  }

  /**
   * Whether the member applied a log entry less than 0.3 ms ago. A watch that is created within this time may
   * count as created before that entry.
   */
  get isReading(): boolean {
    return this.#timeline.now() - this.#appliedAt < MOMENT_MS;
  }

  /** Whether the member receives messages of a leader. */
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

  /** Returns for how many milliseconds the member will still be paused. */
  pausedMs(now: number): number {
    return Math.max(0, this.machine.pausedUntil - now);
  }

  /**
   * Applies the log up to the entry `index` after `withinMs` milliseconds plus the additional delay of this
   * member.
   */
  learn(index: number, withinMs: number): void {
    this.machine.after(withinMs + this.lagMs, () => {
      if (this.isCut && this !== this.#cluster.terms.leader) return;
      this.apply(index);
    });
  }

  /**
   * Applies log entries up to `index` one by one, and notifies streams after each. Then starts the reads that
   * waited for these log entries.
   */
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

  /** Ends the process of the member, which loses everything except its log. */
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
