import { staleReads } from '../product.ts';
import type { Random } from '../random.ts';
import { Machine, type Timeline } from '../timeline.ts';
import { Member } from './member.ts';
import { refusal } from './refusal.ts';
import { Store, type Applied } from './store.ts';
import { Terms } from './terms.ts';

/** Options of a simulated etcd cluster. */
export interface ClusterOptions {
  readonly members: number;
  readonly version: string;
  /** Shortest TTL that the cluster grants, in seconds. */
  readonly minTtl: number;
  /** Largest error in the speed of the members' clocks, as a fraction: 0.01 means one percent. */
  readonly rateError: number;
}

/**
 * A command in the log of the cluster. It changes the store once, when a majority of the members has it in
 * their logs.
 */
export type Command = (store: Store) => Applied;

/** Receives the result of a command or a read. It is never called for a request whose member crashed. */
export type Outcome = (response: Applied | Error) => void;

interface Proposal {
  readonly from: Member;
  readonly command: Command;
  readonly outcome: Outcome;
  /** Whether the command is dropped if its leader is replaced before a majority has it. */
  readonly isOfLeader?: boolean;
}

/**
 * A read at one member. It waits until the member has applied all log entries committed when the read
 * started.
 */
export interface Reading {
  readonly outcome: Outcome;
  readonly go: () => void;
  /** When the read started, in simulated time. */
  readonly since: number;
}

const AGAIN_MS = 50;
const EXPIRY_EVERY_MS = 500;
const GIVES_UP_MS = 7_000;
const NO_LEADER_WITHIN_MS = 500;

/**
 * The consensus of a simulated etcd cluster, as clients can observe it. There is one log, to which one leader
 * at a time may append while a majority is running and reachable.
 * It models when and whether a command takes effect, and how late each member applies it. It also models
 * which member leads in which term, and which former leader still believes that it leads.
 */
export class Cluster {
  readonly store: Store = new Store(() => this.terms.leader?.lessor);
  readonly members: readonly Member[];
  readonly terms: Terms;
  readonly minTtl: number;
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #fate: Machine;
  /**
   * Whether a member that was paused executes linearizable reads on its own, outdated state, as some releases
   * of etcd do.
   */
  readonly #staleReads: boolean;
  /** The revision of the store after each log entry, by the index of the log entry. */
  readonly #revisions = [1];
  /** For each compaction command, by its index in the log: the revision up to which it removes history. */
  readonly #compactions = new Map<number, number>();

  constructor(timeline: Timeline, random: Random, options: ClusterOptions) {
    this.#timeline = timeline;
    this.#fate = new Machine(timeline, 'fate');
    this.#random = random;
    this.minTtl = options.minTtl;
    this.#staleReads = staleReads(options.version);
    this.members = Array.from({ length: options.members }, (_, i) => {
      const rate = 1 + random.between(-options.rateError, options.rateError);
      return new Member(this, timeline, { number: i + 1, rate, version: options.version });
    });
    const { store, members } = this;
    this.terms = new Terms(timeline, random, { store, members, end: () => this.#end });
    for (const member of this.members) this.#expire(member);
  }

  revisionAt(index: number): number {
    return this.#revisions[index] as number;
  }

  /**
   * Returns the revision up to which the log entry with the number `index` compacts the history. Returns
   * `undefined` if that entry is no compaction.
   */
  compactionAt(index: number): number | undefined {
    return this.#compactions.get(index);
  }

  /**
   * Appends a compaction up to the present revision to the log. Each member compacts its history when it
   * applies the entry.
   */
  compact(): void {
    const { revision } = this.store.keyspace;
    this.store.keyspace.losesBefore = revision;
    this.#compactions.set(this.#end + 1, revision);
    this.#append();
  }

  /** Removes the history that no member needs any more, since all members have compacted it. */
  forget(): void {
    this.store.compact(Math.min(...this.members.map(({ compacted }) => compacted)));
  }

  /** Appends a command to the log. The cluster may execute it long after the client has given up. */
  propose(from: Member, command: Command, outcome: Outcome): void {
    this.#toLeader(from, outcome, (leader) => this.#commit(leader, { from, command, outcome }));
  }

  /** Executes a read once the member has applied everything that was committed when the read started. */
  read(from: Member, outcome: Outcome, go: () => void): void {
    this.#read(from, { outcome, go, since: this.#timeline.now() });
  }

  /**
   * Calls `request` with the leader that the member `from` knows. It may be a former leader that still
   * believes that it leads. Calls `request` with `undefined` when the member knows no leader.
   */
  toLeader(from: Member, request: (leader: Member | undefined) => void): void {
    const leader = from.leads ? from : this.terms.leader;
    if (leader === from) request(leader);
    else if (!leader || !this.terms.reach(from, leader)) request(undefined);
    else leader.machine.after(this.#hopMs(), () => request(leader));
  }

  /** Restarts a crashed member, which still has its log. */
  restart(member: Member): void {
    member.isUp = true;
    this.#expire(member);
    this.#catchUp(member);
  }

  /** Runs the task after `ms` of simulated time, even if members crash or are paused meanwhile. */
  later(ms: number, task: () => void): void {
    this.#fate.after(ms, task);
  }

  /** Ends a network partition: the given member can reach all other members again. */
  heal(member: Member): void {
    member.isCut = false;
    this.#catchUp(member);
  }

  get #end(): number {
    return this.#revisions.length - 1;
  }

  #toLeader(from: Member, outcome: Outcome, go: (leader: Member) => void): void {
    this.toLeader(from, (leader) => {
      if (leader) go(leader);
      else
        from.machine.after(this.#random.between(0, NO_LEADER_WITHIN_MS), () => outcome(refusal.noLeader()));
    });
  }

  #read(from: Member, reading: Reading): void {
    const { outcome, go, since } = reading;
    if (this.#staleReads && from.leads && from !== this.terms.leader) {
      go();
      return;
    }
    this.#toLeader(from, outcome, (leader) => {
      const end = this.#end;
      if (leader === this.terms.leader && this.terms.hasQuorum(leader))
        from.machine.after(this.#hopMs(), () => from.whenApplied(end, go));
      else if (this.#timeline.now() - since > GIVES_UP_MS) outcome(refusal.timedOut());
      else from.machine.after(AGAIN_MS, () => this.#read(from, reading));
    });
  }

  #commit(leader: Member, proposal: Proposal): void {
    const { term } = this.terms;
    leader.machine.after(this.terms.hasQuorum(leader) ? this.#hopMs() : AGAIN_MS, () => {
      const isStale = leader !== this.terms.leader || term !== this.terms.term;
      if (!isStale && !this.terms.hasQuorum(leader)) this.#commit(leader, proposal);
      else if (!isStale) this.#carryOut(proposal);
      // If the leader was replaced before a majority had the command, the next leader may have it in its log
      // or not. So chance decides whether the command is executed.
      else if (this.terms.leader && !proposal.isOfLeader && this.#random.chance(0.5))
        this.#carryOut({ ...proposal, outcome: () => undefined });
    });
  }

  #carryOut({ from, command, outcome }: Proposal): void {
    let response: Applied | Error;
    try {
      response = command(this.store);
    } catch (error) {
      response = error as Error;
    }
    this.#append();
    const end = this.#end;
    const { life } = from.machine;
    from.whenApplied(end, () => {
      if (from.machine.life === life) outcome(response);
    });
  }

  #append(): void {
    this.#revisions.push(this.store.keyspace.revision);
    for (const member of this.members) {
      if (member === this.terms.leader) member.apply(this.#end);
      else if (member.isUp) member.learn(this.#end, this.#hopMs());
    }
  }

  #catchUp(member: Member): void {
    member.machine.after(this.#random.between(20, 400), () => {
      this.terms.tell(member);
      if (this.terms.knownTo(member)) member.apply(this.#end);
      else if (member.isUp && !member.isCut) this.#catchUp(member);
    });
  }

  /**
   * Removes expired leases at a member that leads, or that still believes that it leads. A deposed leader no
   * longer does so since etcd 3.4.31 and 3.5.13.
   */
  #expire(member: Member): void {
    const revoke = (id: string): void =>
      this.#commit(member, {
        from: member,
        command: (store) => store.revoke(id),
        outcome: () => undefined,
        isOfLeader: true,
      });
    member.machine.after(EXPIRY_EVERY_MS, () => {
      this.#expire(member);
      if (member.leads) member.lessor.expired.forEach(revoke);
    });
  }

  #hopMs(): number {
    return this.#random.between(0.2, 1);
  }
}
