import { virtualClock, type VirtualClock } from '@queuelock/memory';
import { expect } from 'chai';
import { elapsedBy } from '../src/base/clock.ts';
import { QueueLockError } from '../src/index.ts';
import { paceOf } from '../src/session/budget.ts';
import { Liveness } from '../src/session/liveness.ts';
import { renewInPlaceOfMain } from '../src/session/thread-loop.ts';
import { ThreadTimes, threadClockGrainMs } from '../src/session/thread-times.ts';

const TTL_MS = 10_000;
// How long a heartbeat proves the session, in milliseconds: the TTL minus 1 %, minus the safety margin of 200
// ms, minus 20 ms for the difference between the clocks of two threads.
const PROVEN_MS = 9_680;
const MAX_SILENCE_MS = 60_000;

/**
 * Simulates, in virtual time, a heartbeat thread beside a blocked main thread. Only the code of the heartbeat
 * thread runs, since a blocked main thread runs none.
 */
class BlockedMain {
  readonly clock: VirtualClock = virtualClock();
  readonly times = new ThreadTimes();
  readonly liveness: Liveness;
  readonly sent: number[] = [];
  /**
   * The time that earlier heartbeats still prove when the thread sends its first heartbeat, in milliseconds.
   */
  earlierMs: number | undefined;
  readonly failures: unknown[] = [];
  hasEnded = false;
  renew: () => Promise<number> = async () => TTL_MS;

  constructor() {
    this.liveness = new Liveness(this.clock, this.clock.now() + 9_700, 'store://');
    const { times, clock } = this;
    this.liveness.addProofs({
      get deadline() {
        return times.threadDeadline;
      },
      get isLost() {
        return times.isLost;
      },
      noteProof: (deadline) => times.noteProof(clock.now(), deadline),
    });
    times.noteProof(clock.now(), clock.now() + 9_700);
    times.checkIn(clock.now());
  }

  start(): void {
    const pace = {
      ...paceOf(TTL_MS, {}),
      checkInMs: 1_000,
      maxSilenceMs: MAX_SILENCE_MS,
      rehearsalMs: TTL_MS,
    };
    const renewer = {
      renew: (_signal: AbortSignal, earlierMs: number): Promise<number> => {
        this.earlierMs ??= earlierMs;
        this.sent.push(this.clock.now());
        return this.renew();
      },
    };
    const clock = { ...this.clock, random: () => 0.5 };
    const onFailure = (error: unknown): void => void this.failures.push(error);
    void renewInPlaceOfMain({ times: this.times, renewer, clock, pace, onFailure }).then(
      () => (this.hasEnded = true),
    );
  }
}

describe('heartbeats that a thread sends while the main thread is blocked', () => {
  let main: BlockedMain;
  beforeEach(() => {
    main = new BlockedMain();
  });

  it('keep the session proven for 40 s', async () => {
    main.start();
    await main.clock.advance(40_000);
    expect(main.sent.length).to.be.within(12, 14);
    expect(main.liveness.remainingMs).to.be.within(PROVEN_MS - 3_125, PROVEN_MS);
    main.times.end();
    await main.clock.advance(5_000);
    expect(main.hasEnded).to.equal(true);
  });

  it('end when the main thread has been blocked for longer than maxBlockedMs', async () => {
    main.start();
    await main.clock.advance(MAX_SILENCE_MS + 3_000);
    const last = main.sent.at(-1)!;
    expect(last).to.be.within(MAX_SILENCE_MS - 3_200, MAX_SILENCE_MS);
    const left = main.liveness.remainingMs;
    expect(left).to.be.closeTo(last + PROVEN_MS - main.clock.now(), 1);
    await main.clock.advance(left - 1);
    expect(main.liveness.remainingMs).to.be.within(0.5, 1.5);
    await main.clock.advance(3_000);
    expect([main.liveness.remainingMs, main.liveness.hasEnded, main.hasEnded]).to.deep.equal([0, true, true]);
  });

  it('are sent with the time for which earlier heartbeats of the main thread still prove the session', async () => {
    await main.clock.advance(4_000);
    main.start();
    await main.clock.advance(0);
    // The main thread's heartbeats proved 9,700 ms, of which 4,000 ms have passed. `earlierMs` is the time
    // before the safety margin of 200 ms and 1 % were subtracted, so both are added again.
    expect(main.earlierMs).to.be.closeTo((9_700 - 4_000 + 200) / 0.99, 0.1);
    main.times.end();
    await main.clock.advance(5_000);
  });

  it('start again when the main thread is blocked for a second time', async () => {
    main.start();
    await main.clock.advance(MAX_SILENCE_MS + 3_000);
    main.times.checkIn(main.clock.now());
    await main.clock.advance(20_000);
    expect(main.liveness.remainingMs).to.be.above(5_000);
    main.times.end();
    await main.clock.advance(5_000);
  });

  it('prove nothing when their reply arrives after the deadline', async () => {
    let response = (): void => undefined;
    main.renew = () => new Promise((resolve) => (response = () => resolve(TTL_MS)));
    main.start();
    main.clock.stall(9_701);
    response();
    await main.clock.advance(0);
    expect(main.times.threadDeadline).to.equal(0);
    expect(main.liveness.remainingMs).to.equal(0);
    await main.clock.advance(20_000);
    expect(main.hasEnded).to.equal(true);
  });

  it('report failures, and are retried with a backoff until one is confirmed', async () => {
    const failure = new QueueLockError('UNAVAILABLE', 'cut off');
    main.renew = () => (main.failures.length < 3 ? Promise.reject(failure) : Promise.resolve(TTL_MS));
    main.start();
    await main.clock.advance(4_000);
    expect(main.failures).to.deep.equal([failure, failure, failure]);
    expect(main.times.threadDeadline).to.be.above(0);
    main.times.end();
    await main.clock.advance(20_000);
  });

  it('report a loss to the main thread when the store has ended the session', async () => {
    main.renew = () => Promise.reject(new QueueLockError('SESSION_LOST', 'the lease was revoked'));
    main.start();
    await main.clock.advance(1_000);
    expect([main.hasEnded, main.failures]).to.deep.equal([true, []]);
    expect(main.liveness.remainingMs).to.equal(0);
    expect(main.liveness.ending.reason as unknown)
      .to.be.instanceOf(QueueLockError)
      .with.property('reason', 'session-lost');
  });
});

describe('the difference between the clocks of two threads', () => {
  /**
   * Returns by how many milliseconds the clock of another thread may be ahead of the main thread's clock.
   * Both are read from the operating system's clock since boot, which advances in steps of `stepMs`.
   */
  function furthestAheadMs(stepMs: number): number {
    let [now, furthest] = [0, 0];
    const threadClock = (): (() => number) => {
      const start = now;
      const boot = (): number => Math.floor(now / stepMs) * stepMs;
      return elapsedBy({ monotonic: () => now - start, boot, wall: () => now });
    };
    for (let tenth = 0; tenth < 10; tenth += 1) {
      now = 0;
      const main = threadClock();
      now = (stepMs * (tenth + 0.99)) / 10;
      const offset = main();
      const thread = threadClock();
      for (let reads = 0; reads < 60; reads += 1) {
        now += 51;
        furthest = Math.max(furthest, thread() + offset - main());
      }
    }
    return furthest;
  }

  it('is at most 20 ms on Linux, whose boot clock has steps of 10 ms', () => {
    expect(furthestAheadMs(10)).to.be.at.most(threadClockGrainMs('linux'));
    expect(threadClockGrainMs('linux')).to.equal(20);
  });

  it('is almost 1 s on macOS, whose boot clock has whole seconds', () => {
    expect(furthestAheadMs(1_000)).to.be.within(900, threadClockGrainMs('darwin'));
  });
});
