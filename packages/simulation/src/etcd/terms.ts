import type { Random } from '../random.ts';
import { Machine, type Timeline } from '../timeline.ts';
import type { Member } from './member.ts';
import type { Store } from './store.ts';

/**
 * The parts of a cluster on which an election depends: the members, the state of the store, and the length of
 * the log.
 */
export interface Electorate {
  readonly members: readonly Member[];
  readonly store: Store;
  /** Returns the index of the last entry of the log. */
  readonly end: () => number;
}

const TICK_MS = 50;
const ELECTION_MS = 1_000;
const LEADERLESS_STREAMS_END_MS = 3_000;
// Longest time in milliseconds until messages of other members reach a member that was paused. Until they
// arrive, that member may still believe that it leads.
const LATE_MS = 600;

/**
 * Elects leaders and counts terms. A leader that can reach no majority is replaced after one to two seconds.
 */
export class Terms {
  term = 1;
  leader: Member | undefined;
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #electorate: Electorate;
  /** A simulated machine that never fails. It runs the timers that do not belong to any member. */
  readonly #fate: Machine;
  #sickSince: number | undefined;

  constructor(timeline: Timeline, random: Random, electorate: Electorate) {
    this.#timeline = timeline;
    this.#random = random;
    this.#electorate = electorate;
    this.#fate = new Machine(timeline, 'fate');
    this.#elect(random.pick(electorate.members), 0);
    this.#tick();
  }

  reach(one: Member, other: Member): boolean {
    return one === other || (!one.isCut && !other.isCut && one.isUp && other.isUp);
  }

  hasQuorum(member: Member): boolean {
    const { members } = this.#electorate;
    const reached = members.filter((other) => this.#isWell(other) && this.reach(member, other));
    return reached.length > members.length / 2;
  }

  /** Informs the member of the newest term. A member that led in an earlier term then stops leading. */
  tell(member: Member): void {
    if (member.isCut && member !== this.leader) return;
    member.term = this.term;
    if (member === this.leader || !member.leads) return;
    member.leads = false;
    member.lessor.end();
  }

  #tick(): void {
    this.#fate.after(TICK_MS, () => {
      this.#tick();
      const now = this.#timeline.now();
      const { leader } = this;
      if (leader?.leads && this.#isWell(leader) && this.hasQuorum(leader)) this.#sickSince = undefined;
      else if (this.#sickSince === undefined) this.#sickSince = now + this.#random.between(0, ELECTION_MS);
      else if (now - this.#sickSince > ELECTION_MS) this.#replace(now - this.#sickSince);
    });
  }

  #replace(sickForMs: number): void {
    const { leader } = this;
    const { members } = this.#electorate;
    // A leader that cannot reach a majority steps down.
    if (leader?.leads && this.#isWell(leader)) {
      leader.leads = false;
      leader.lessor.end();
    }
    this.leader = undefined;
    const able = members.filter((member) => this.#isWell(member) && this.hasQuorum(member));
    if (able.length > 0) this.#elect(this.#random.pick(able), ELECTION_MS);
    if (sickForMs <= LEADERLESS_STREAMS_END_MS) return;
    for (const member of members.filter((one) => !this.knownTo(one)))
      for (const stream of [...member.streams]) stream.end('etcdserver: no leader');
  }

  /** Returns whether the member receives messages of a leader now. */
  knownTo(member: Member): boolean {
    return member.leads || (this.leader !== undefined && this.reach(member, this.leader));
  }

  #elect(leader: Member, extraMs: number): void {
    const { members, store, end } = this.#electorate;
    this.term += 1;
    this.leader = leader;
    this.#sickSince = undefined;
    leader.leads = true;
    leader.term = this.term;
    leader.apply(end());
    leader.lessor.begin(store.leases.values(), extraMs);
    for (const member of members) {
      const pausedMs = member.pausedMs(this.#timeline.now());
      const mostMs = pausedMs > 0 ? LATE_MS : 1;
      member.machine.after(pausedMs + this.#random.between(0.2, mostMs), () => this.tell(member));
    }
  }

  #isWell(member: Member): boolean {
    return member.isUp && member.pausedMs(this.#timeline.now()) === 0;
  }
}
