import { staleReads } from '../product.ts';
import type { Random } from '../random.ts';
import { Machine, type Timeline } from '../timeline.ts';
import { Member } from './member.ts';
import { refusal } from './refusal.ts';
import { Store, type Applied } from './store.ts';
import { Terms } from './terms.ts';

/** What a cluster is made of. */
export interface ClusterOptions {
  readonly members: number;
  readonly version: string;
  /** The shortest time to live that it grants, in seconds. */
  readonly minTtl: number;
  /** By how much the clocks of its members may be off. */
  readonly rateError: number;
}

/** What is done to the store, once, when it is committed. */
export type Command = (store: Store) => Applied;

/** Hears what became of a command or a read; of some nobody ever hears. */
export type Outcome = (answer: Applied | Error) => void;

interface Proposal {
  readonly from: Member;
  readonly command: Command;
  readonly outcome: Outcome;
  /** Whether it comes to nothing with the leader that it was brought to. */
  readonly isOfLeader?: boolean;
}

/** A read that waits for its turn. */
export interface Reading {
  readonly outcome: Outcome;
  readonly go: () => void;
  /** Since when, in true time. */
  readonly since: number;
}

const AGAIN_MS = 50;
const EXPIRY_EVERY_MS = 500;
const GIVES_UP_MS = 7_000;
const NO_LEADER_WITHIN_MS = 500;

/**
 * The consensus of a cluster, told from above: there is one log, and one leader at a time may append to it while most members can be
 * reached and run. What is modelled is all that a client can see of it: when a command takes effect, whether at all, how late each
 * member knows, who leads in which term, and who only believes so.
 */
export class Cluster {
  readonly store: Store = new Store(() => this.terms.leader?.lessor);
  readonly members: readonly Member[];
  readonly terms: Terms;
  readonly minTtl: number;
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #fate: Machine;
  /** Whether members that were paused answer linearizable reads by themselves, as some releases do. */
  readonly #staleReads: boolean;
  /** The store's revision after each entry of the log. */
  readonly #revisions = [1];
  /** Up to which revision entries of the log forget what was, by their places. */
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

  /** Up to which revision history is gone once that entry was read, if it is about that. */
  compactionAt(index: number): number | undefined {
    return this.#compactions.get(index);
  }

  /** Forgets history, at each member when it has read so far. */
  compact(): void {
    const { revision } = this.store.keyspace;
    this.store.keyspace.losesBefore = revision;
    this.#compactions.set(this.#end + 1, revision);
    this.#append();
  }

  /** What every member has forgotten need not be kept. */
  forget(): void {
    this.store.compact(Math.min(...this.members.map(({ compacted }) => compacted)));
  }

  /** Brings a command into the log. It may be carried out long after whoever asked has given up. */
  propose(from: Member, command: Command, outcome: Outcome): void {
    this.#toLeader(from, outcome, (leader) => this.#commit(leader, { from, command, outcome }));
  }

  /** Lets a read go on when the member has read what was committed when it asked. */
  read(from: Member, outcome: Outcome, go: () => void): void {
    this.#read(from, { outcome, go, since: this.#timeline.now() });
  }

  /** Asks the leader, or who still believes that it is; `undefined` when none is known. */
  toLeader(from: Member, ask: (leader: Member | undefined) => void): void {
    const leader = from.leads ? from : this.terms.leader;
    if (leader === from) ask(leader);
    else if (!leader || !this.terms.reach(from, leader)) ask(undefined);
    else leader.machine.after(this.#hopMs(), () => ask(leader));
  }

  /** The member comes back, with its log. */
  restart(member: Member): void {
    member.isUp = true;
    this.#expire(member);
    this.#catchUp(member);
  }

  /** In true time, whatever happens to the members. */
  later(ms: number, task: () => void): void {
    this.#fate.after(ms, task);
  }

  /** The others can be reached again. */
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
      // What a leader could not spread is in the log of the next one, or in nobody's.
      else if (this.terms.leader && !proposal.isOfLeader && this.#random.chance(0.5))
        this.#carryOut({ ...proposal, outcome: () => undefined });
    });
  }

  #carryOut({ from, command, outcome }: Proposal): void {
    let answer: Applied | Error;
    try {
      answer = command(this.store);
    } catch (error) {
      answer = error as Error;
    }
    this.#append();
    const end = this.#end;
    const { life } = from.machine;
    from.whenApplied(end, () => {
      if (from.machine.life === life) outcome(answer);
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

  /** Who leads, or believes so, removes the leases that are over. Since 3.4.31 and 3.5.13 nobody does who only believes so. */
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
