import type { Random } from '../random.ts';
import { Machine, type Timeline } from '../timeline.ts';
import { Following } from './following.ts';
import { Leading, type Entry } from './leading.ts';
import { Member } from './member.ts';

/** Options of a simulated ZooKeeper ensemble. */
export interface EnsembleOptions {
  readonly members: number;
  readonly tickMs: number;
  /**
   * ZooKeeper's setting `syncLimit`: a member leaves a leader that has sent nothing for this many ticks (of
   * `tickMs`).
   */
  readonly syncLimit: number;
  readonly containersEveryMs: number;
  /** Largest error in the speed of the members' clocks, as a fraction: 0.01 means one percent. */
  readonly rateError: number;
}

const ELECTION_CHECK_MS = 50;
const ELECTION_MS = 300;

/**
 * A simulated ZooKeeper ensemble, as clients can observe it. There is one log, to which one leader at a time
 * may append while a majority follows it.
 * It models which changes take effect and how late each member applies them. It also models how a deposed
 * leader responds until it notices its deposition.
 */
export class Ensemble {
  readonly options: EnsembleOptions;
  readonly timeline: Timeline;
  readonly members: readonly Member[];
  /** The latest leadership of any member. It may have ended. */
  leading: Leading | undefined;
  /** Called with each transaction when it is committed. */
  onCommitted: (entry: Entry) => void = () => undefined;
  readonly #log: Entry[] = [];
  readonly #random: Random;
  readonly #fate: Machine;
  #epoch = 0n;

  constructor(timeline: Timeline, random: Random, options: EnsembleOptions) {
    this.timeline = timeline;
    this.options = options;
    this.#random = random;
    this.#fate = new Machine(timeline, 'fate');
    this.members = Array.from({ length: options.members }, (_, i) => {
      const rate = 1 + random.between(-options.rateError, options.rateError);
      return new Member(this, timeline, { number: i + 1, rate });
    });
    this.#elect(this.members);
    this.#tend();
  }

  /** The leader if it can commit, or `undefined`. */
  get leader(): Member | undefined {
    return this.leading && !this.leading.isOver ? this.leading.member : undefined;
  }

  reach(one: Member, other: Member): boolean {
    return one === other || (!one.isCut && !other.isCut && one.isUp && other.isUp);
  }

  hasQuorum(leading: Leading): boolean {
    if (leading !== this.leading || leading.isOver) return false;
    return 2 * (this.#reached(leading).length + 1) > this.members.length;
  }

  /** Returns whether a change that the leader proposes now may reach another member. */
  reachesAny(leading: Leading): boolean {
    return this.#reached(leading).length > 0;
  }

  append(entry: Entry): void {
    this.#log.push(entry);
    this.onCommitted(entry);
    const { leading } = this;
    leading?.member.apply(entry, this.#log.length);
    const end = this.#log.length;
    for (const following of leading?.followings ?? [])
      following.hear(() => following.member.apply(entry, end));
  }

  hopMs(): number {
    return this.#random.between(0.2, 1);
  }

  /** Restarts the member with its log. */
  restart(member: Member): void {
    member.isUp = true;
  }

  /** Ends the partition: the member can reach all other members again. */
  heal(member: Member): void {
    member.isCut = false;
  }

  #reached(leading: Leading): Following[] {
    return [...leading.followings].filter(
      (following) =>
        following.member.following === following &&
        this.#isWell(following.member) &&
        this.reach(following.member, leading.member),
    );
  }

  #isWell(member: Member): boolean {
    return member.isUp && !member.isCut && member.machine.pausedUntil <= this.timeline.now();
  }

  /** Connects members without a leader to the leader, or elects one. */
  #tend(): void {
    this.#fate.after(ELECTION_CHECK_MS, () => {
      this.#tend();
      const now = this.timeline.now();
      const observeOptions = this.members.filter((member) => member.isLooking && this.#isWell(member));
      const { leader } = this;
      const ready = observeOptions.filter(({ lookingSince }) => now - lookingSince > ELECTION_MS);
      if (ready.length === 0) return;
      if (leader && this.#isWell(leader)) {
        if (this.#random.chance(0.3)) for (const member of ready) this.#join(member);
      } else if (2 * ready.length > this.members.length && this.#random.chance(0.3)) this.#elect(ready);
    });
  }

  #elect(able: readonly Member[]): void {
    this.#keepSome();
    this.#epoch += 1n;
    const leader = this.#random.pick(able);
    leader.catchUp(this.#log, this.#epoch);
    this.leading = new Leading(this, leader, this.#epoch);
    leader.lead(this.leading);
    for (const member of able) if (member !== leader) this.#join(member);
  }

  /** When a leader is replaced, keeps its uncommitted transactions that the next leader has received. */
  #keepSome(): void {
    const { pending = [] } = this.leading ?? {};
    const alone = pending.findIndex(({ isSpread }) => !isSpread);
    const most = alone < 0 ? pending.length : alone;
    for (const entry of pending.splice(0, this.#random.int(0, most))) {
      this.#log.push(entry);
      this.onCommitted(entry);
    }
  }

  #join(member: Member): void {
    const { leading } = this;
    if (!leading) return;
    member.catchUp(this.#log, leading.epoch);
    member.follow(new Following(this, leading, member));
  }
}
