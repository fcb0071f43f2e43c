import type { Ensemble } from './ensemble.ts';
import type { Leading } from './leading.ts';
import type { Member } from './member.ts';
import { Pipe } from './pipe.ts';

/** The connection of a follower to its leader. */
export class Following {
  readonly leading: Leading;
  readonly member: Member;
  /**
   * The tick of the leader at which the leader drops this follower, unless the follower has responded by
   * then.
   */
  deadline: number;
  isOver = false;
  readonly #ensemble: Ensemble;
  readonly #up: Pipe;
  readonly #down: Pipe;
  #heardAt: number;

  constructor(ensemble: Ensemble, leading: Leading, member: Member) {
    this.#ensemble = ensemble;
    this.leading = leading;
    this.member = member;
    const isOpen = (): boolean => ensemble.reach(member, leading.member);
    this.#up = new Pipe(ensemble.timeline, leading.member.machine, isOpen);
    this.#down = new Pipe(ensemble.timeline, member.machine, isOpen);
    this.deadline = leading.tick + ensemble.options.syncLimit;
    this.#heardAt = member.machine.now();
    leading.followings.add(this);
    this.#listen(this.#heardAt);
  }

  /**
   * Sends a message to the leader. Messages arrive in the order in which they were sent. The leader then runs
   * `task`.
   */
  tell(task: (leading: Leading) => void): void {
    this.#up.send(this.#ensemble.hopMs(), () => {
      if (!this.leading.isOver) task(this.leading);
    });
  }

  /**
   * Sends a message to the follower, after all earlier messages. The follower runs `task` when it arrives.
   */
  hear(task: () => void): void {
    this.#down.send(this.#ensemble.hopMs() + this.member.lagMs, () => {
      this.#heardAt = this.member.machine.now();
      task();
    });
  }

  /**
   * Requests the ids of those sessions of the follower that were active since the previous such request.
   * After the reply, the leader keeps the follower at least until the tick number `deadline`.
   */
  ping(deadline: number): void {
    this.hear(() => {
      const touched = this.member.takeTouched();
      this.tell(({ tracker }) => {
        this.deadline = deadline;
        for (const session of touched) tracker.touch(session);
      });
    });
  }

  /**
   * Ends the connection between the leader and the follower. Each of them is notified if it still exists and
   * can be reached.
   */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#up.end();
    this.#down.end();
    this.leading.followings.delete(this);
    if (this.member.following !== this) return;
    const ms = this.#ensemble.reach(this.member, this.leading.member)
      ? this.#ensemble.hopMs()
      : this.#waitTimeoutMs;
    const { life } = this.member.machine;
    this.member.machine.after(ms, () => {
      if (this.member.machine.life === life && this.member.following === this) this.member.read();
    });
  }

  /** Ends the connection because the follower has left. The leader learns of it when it can be reached. */
  left(): void {
    this.#up.end();
    this.#down.end();
    const { machine } = this.leading.member;
    const isNotified = this.#ensemble.reach(this.member, this.leading.member);
    if (isNotified) machine.after(this.#ensemble.hopMs(), () => this.end());
  }

  get #waitTimeoutMs(): number {
    const { tickMs, syncLimit } = this.#ensemble.options;
    return tickMs * syncLimit;
  }

  /**
   * Makes the follower leave a leader that has sent nothing within ZooKeeper's `syncLimit`. A member that was
   * paused first handles the messages that arrived during the pause.
   */
  #listen(lookedAt: number): void {
    const { machine } = this.member;
    const pauseMs = this.#ensemble.options.tickMs / 2;
    machine.after(pauseMs, () => {
      if (this.isOver || this.member.following !== this) return;
      const now = machine.now();
      if (now - lookedAt > 2 * pauseMs) this.#heardAt = now;
      if (now - this.#heardAt > this.#waitTimeoutMs) this.member.read();
      else this.#listen(now);
    });
  }
}
