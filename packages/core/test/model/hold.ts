import { isQueueLockError, type Ownership, type RevocationReason } from '../../src/index.ts';
import type { Actor } from './actor.ts';
import type { Claim } from './claim.ts';
import type { World } from './world.ts';

// Tolerance in milliseconds for rounding errors when the times of two clocks are compared.
const ROUNDING_MS = 0.001;
// Maximum delay of the holder's timers, in milliseconds.
const GRACE_MS = 2;
// Time after the last fault, in milliseconds, within which each live session must have a confirmed heartbeat.
const RECOVERY_MS = 1_500;

/** One hold as its holder sees it, with checks against the rules of judge.ts. */
export class Hold {
  readonly label: string;
  readonly name: string;
  readonly key: string;
  readonly order: bigint;
  readonly token: bigint;
  readonly actor: Actor;
  readonly reads: boolean;
  readonly #world: World;
  readonly #ownership: Ownership;
  /** Whether the holder released the hold before it was notified of a loss. */
  gaveUp = false;
  /** Whether the hold's signal has emitted its `abort` event. */
  notified = false;
  #over = false;
  #handedBack = false;

  constructor(world: World, ownership: Ownership, { label, actor, plan }: Claim) {
    this.label = label;
    this.actor = actor;
    this.reads = plan.reads;
    this.name = ownership.name;
    this.key = ownership.key;
    this.order = ownership.order;
    this.token = ownership.token;
    this.#world = world;
    this.#ownership = ownership;
    ownership.signal.addEventListener('abort', () => this.#lose());
  }

  /** Whether the holder believes that it owns the lock, as far as it knows without reading `held`. */
  get open(): boolean {
    return !this.gaveUp && !this.notified && !this.#over && !this.#handedBack;
  }

  /** Returns whether the hold's signal was aborted with the given error. */
  lostBy(error: unknown): boolean {
    return this.#ownership.signal.reason === error;
  }

  is(ownership: Ownership): boolean {
    return ownership === this.#ownership;
  }

  get remainingMs(): number {
    return this.#ownership.remainingMs;
  }

  /** Reads `held`. This read may itself end the hold. */
  get believes(): boolean {
    return this.#ownership.held;
  }

  /**
   * Reads `held` and `remainingMs` of the hold, and checks that they agree with each other and with the
   * hold's signal.
   */
  read(): boolean {
    const { held, remainingMs } = this.#ownership;
    const { judge, timeline, ledger } = this.#world;
    const say = (what: string) => () => `${this.label} ${what}`;
    judge.require('no way back', held === remainingMs > 0, say('is held without a budget, or the reverse'));
    judge.require('no way back', !held || (!this.gaveUp && !this.#over), say('is held again'));
    if (held && !ledger.wasRemoved(this.key)) {
      const until = timeline.now() + remainingMs / this.actor.machine.rate;
      const { keptUntil } = ledger.leaseOf(ledger.sessionOf(this.key));
      judge.require(
        'budget',
        until <= keptUntil + ROUNDING_MS,
        say(`believes until ${until}, kept until ${keptUntil}`),
      );
    }
    if (!held) this.#over = true;
    if (!held && !this.gaveUp && !this.#handedBack) {
      judge.require('signal', this.#ownership.signal.aborted, say('is lost, and its signal silent'));
      judge.require('signal', this.notified, say('is lost, and the event has not come'));
    }
    return held;
  }

  /** Checks that a timer has notified the holder at the end of the proven time. A holder that never reads `held` depends on that notification. */
  mustHaveBeenNotified(): void {
    const { judge, ledger } = this.#world;
    const { machine } = this.actor;
    const { provenUntil } = ledger.leaseOf(ledger.sessionOf(this.key));
    const overdue = machine.now() > provenUntil + GRACE_MS && !machine.late;
    judge.require('told in time', !overdue, () => `${this.label} was proven until ${provenUntil}`);
  }

  /** Records that the holder ends the hold by itself, by a release or by unsubscribing. */
  giveUp(): void {
    if (this.reads) this.read();
    if (!this.notified) this.gaveUp = true;
  }

  /** Records that the work of a `run` has ended, so the client releases the lock next. Until that release the client may still report a loss. */
  handBack(): void {
    this.#handedBack = true;
  }

  settled(): void {
    if (this.#handedBack && !this.notified) this.gaveUp = true;
  }

  release(): void {
    const { judge, server } = this.#world;
    this.giveUp();
    const released = this.#ownership.release();
    this.read();
    released.then(
      () => {
        const there =
          server
            .queues()
            .get(this.name)
            ?.some(({ key }) => key === this.key) ?? false;
        const confirmed = !there || this.actor.sawTheEndOf(this.#world.ledger.sessionOf(this.key));
        judge.require('release', confirmed, () => `${this.label} is released and still there`);
      },
      (error: unknown) => judge.require('release', false, () => `${this.label}: ${String(error)}`),
    );
  }

  #lose(): void {
    const { judge } = this.#world;
    const reason: unknown = this.#ownership.signal.reason;
    judge.note(`${this.label} lost ${String(reason)}`);
    judge.require('signal', !this.gaveUp, () => `${this.label} aborts after its release`);
    judge.require('signal', !this.notified, () => `${this.label} aborts twice`);
    this.notified = true;
    const why = isQueueLockError(reason, 'OWNERSHIP_LOST') ? reason.reason : undefined;
    judge.require('signal', why !== undefined, () => `${this.label} has an untyped reason ${String(reason)}`);
    if (why) this.#justify(why);
    this.read();
    this.actor.readAll();
  }

  #justify(reason: RevocationReason): void {
    const { judge, ledger, server } = this.#world;
    const { machine, closed } = this.actor;
    if (reason === 'heartbeat-timeout') {
      const calmMs = this.#world.timeline.now() - judge.calmSince;
      judge.require('no needless loss', calmMs < RECOVERY_MS, () => `${this.label} is lost without trouble`);
      const provenUntil = ledger.leaseOf(ledger.sessionOf(this.key)).provenUntil;
      judge.require(
        'no needless loss',
        machine.now() >= provenUntil - ROUNDING_MS,
        () => `${this.label} is lost at ${machine.now()}, proven until ${provenUntil}`,
      );
      return;
    }
    const session = ledger.sessionOf(this.key);
    const causes = {
      'client-closed': closed,
      'entry-removed': ledger.evicted.has(this.key),
      'session-lost': ledger.ended.has(session) || !server.sessionIds.includes(session),
    };
    judge.require('signal', causes[reason], () => `${this.label} is lost for no cause: ${reason}`);
  }
}
