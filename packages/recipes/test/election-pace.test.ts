import { expect } from 'chai';
import { election, type Leadership } from '../src/index.ts';
import { Pace } from '../src/election-pace.ts';
import { MemoryStage, TTL_MS, deferred } from './election-stage.ts';

describe('the backoff between two terms of Election.lead', () => {
  let stage: MemoryStage;
  let retiring: AbortController;

  beforeEach(() => {
    stage = new MemoryStage();
    retiring = new AbortController();
  });

  afterEach('leaves nothing behind', async () => {
    retiring.abort();
    await stage.clock.advance(TTL_MS);
    await stage.close();
  });

  function lead(work: (leadership: Leadership, stop: AbortSignal) => unknown, value = 'a'): Promise<void> {
    const { clock } = stage;
    return election(stage.client(), 'x', { value, clock }).lead(work, { signal: retiring.signal });
  }

  it('grows with each term that ends immediately', async () => {
    const begun: number[] = [];
    void lead(() => begun.push(stage.clock.now()));
    await stage.clock.advance(20_000);
    const pauses = begun.slice(1).map((at, i) => at - begun[i]!);
    expect(begun.length, 'terms in twenty seconds').to.be.within(12, 20);
    const least = [80, 160, 320, 640, 1_280, 1_600];
    for (const [i, ms] of least.entries()) expect(pauses[i], `pause ${i}`).to.be.within(ms, ms * 1.25 + 1);
  });

  it('is zero after a term of 10 s, and then starts again at its minimum', async () => {
    const pace = new Pace({ ...stage.clock, random: () => 0 });
    const rests = [0, 0, 0, 30, 800, 10_000, 0, 40].map((termMs) => pace.restAfter(termMs));
    expect(rests).to.deep.equal([100, 200, 400, 770, 800, 0, 100, 160]);
  });

  it('lets another candidate lead during the delay', async () => {
    const terms: string[] = [];
    void lead(() => terms.push('a'));
    void lead(() => terms.push('b'), 'b');
    await stage.settle();
    expect(terms).to.deep.equal(['a', 'b']);
  });

  it('ends immediately when the signal aborts, and leaves no timer', async () => {
    let ended = false;
    void lead(() => undefined).then(() => (ended = true));
    await stage.settle();
    retiring.abort();
    await stage.settle();
    expect(ended).to.equal(true);
  });
});

describe("the signal that a leader's work gets", () => {
  /**
   * Runs the work of a leader, and blocks the event loop until the lease has expired, so that no timer fires.
   * Then calls `read`, which reads the signal of the work or of the leadership.
   */
  async function afterBlocked(
    read: (stop: AbortSignal, leadership: Leadership) => unknown,
  ): Promise<unknown> {
    let blockedMs = 0;
    const stage = new MemoryStage();
    const { clock } = stage;
    const blocked = { ...clock, now: () => clock.now() + blockedMs };
    const retiring = new AbortController();
    const { promise: ended, resolve: end } = deferred();
    let seen: unknown;
    const client = stage.client({ clock: blocked });
    const led = election(client, 'x', { value: 'a', clock }).lead(
      (leadership, stop) => {
        const lastRead = read(stop, leadership);
        blockedMs = TTL_MS * 2;
        seen = typeof lastRead === 'function' ? (lastRead as () => unknown)() : lastRead;
        retiring.abort();
        return ended;
      },
      { signal: retiring.signal },
    );
    await stage.settle();
    end();
    await stage.clock.advance(TTL_MS * 2);
    await led;
    await Promise.all([stage.close(), stage.clock.advance(TTL_MS)]);
    return seen;
  }

  it('reports a loss when it is read, before any timer has run', async () => {
    expect(await afterBlocked((stop) => () => stop.aborted)).to.equal(true);
    const reason = await afterBlocked((stop) => () => stop.reason as unknown);
    expect(reason).to.include({ code: 'OWNERSHIP_LOST' });
    const thrown = await afterBlocked((stop) => () => {
      try {
        stop.throwIfAborted();
        return undefined;
      } catch (error) {
        return error;
      }
    });
    expect(thrown).to.include({ code: 'OWNERSHIP_LOST' });
  });

  it('aborts signals that are derived from it as soon as it is read after a loss', async () => {
    const seen = await afterBlocked((stop) => {
      const derived = AbortSignal.any([stop]);
      return () => [stop.aborted, derived.aborted];
    });
    expect(seen).to.deep.equal([true, true]);
  });
});
