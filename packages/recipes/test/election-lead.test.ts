import { QueueLockError } from '@queuelock/core';
import type { Intercept } from '@queuelock/memory';
import { expect } from 'chai';
import { election, type Election, type Leadership, type LeadOptions, type TermEnd } from '../src/index.ts';
import { MemoryStage, TTL_MS, deferred, failureOf } from './election-stage.ts';

/** Length of a term in milliseconds after which `lead` campaigns again without delay. */
const LONG_MS = 2_000;

/** A candidate that calls `lead` and records its terms. */
class Politician {
  readonly log: string[] = [];
  readonly ends: TermEnd[] = [];
  readonly led: Promise<void>;
  readonly #retiring = new AbortController();
  /** Ends the candidate's work that is running. With an argument, the work throws this error. */
  endWork: (error?: Error) => void = () => undefined;
  leadership: Leadership | undefined;
  working = 0;

  constructor(of: Election, options: Partial<LeadOptions> & { readonly stubborn?: boolean } = {}) {
    const { stubborn = false, ...rest } = options;
    this.led = of.lead((leadership, stop) => this.#work(leadership, stop, stubborn), {
      signal: this.#retiring.signal,
      onEnd: (end) => this.ends.push(end),
      ...rest,
    });
    // Marks a rejection as handled, because a test may not await the promise.
    this.led.catch(() => undefined);
  }

  retire(): void {
    this.#retiring.abort(new Error('retired'));
  }

  async #work(leadership: Leadership, stop: AbortSignal, stubborn: boolean): Promise<void> {
    const { promise, resolve, reject } = deferred();
    this.leadership = leadership;
    this.endWork = (error) => (error ? reject(error) : resolve());
    this.log.push('begins');
    this.working += 1;
    stop.addEventListener('abort', () => {
      this.log.push(`stop: ${(stop.reason as Error).message}`);
      if (!stubborn) resolve();
    });
    try {
      await promise;
    } finally {
      this.working -= 1;
      this.log.push('ends');
    }
  }
}

describe('Election.lead', () => {
  let stage: MemoryStage;
  let politicians: Politician[];

  beforeEach(() => {
    stage = new MemoryStage();
    politicians = [];
  });

  afterEach('leaves nothing behind', async () => {
    for (const politician of politicians) {
      politician.retire();
      politician.endWork();
    }
    await stage.clock.advance(TTL_MS);
    await stage.close();
  });

  function politician(
    ...[value, options, client = stage.client()]: [
      value: string,
      options?: ConstructorParameters<typeof Politician>[1],
      client?: ReturnType<MemoryStage['client']>,
    ]
  ): Politician {
    const made = new Politician(election(client, 'x', { value, clock: stage.clock }), options);
    politicians.push(made);
    return made;
  }

  it('begins the work when elected, and resigns when the work returns', async () => {
    const a = politician('a');
    await stage.settle();
    expect(a.log).to.deep.equal(['begins']);
    expect(a.leadership).to.include({ value: 'a', held: true });
    const next = stage.client().acquire('x');
    await stage.settle();
    a.endWork();
    expect(await next).to.include({ held: true });
    await stage.settle();
    expect(a.ends).to.deep.equal([{ outcome: 'resigned' }]);
  });

  it('joins at the end of the queue after each term', async () => {
    const [a, b] = [politician('a'), politician('b')];
    const leaders: string[] = [];
    await stage.settle();
    for (let term = 0; term < 5; term += 1) {
      const leader = [a, b].find(({ working }) => working === 1)!;
      leaders.push(leader === a ? 'a' : 'b');
      await stage.clock.advance(LONG_MS);
      leader.endWork();
      await stage.settle();
    }
    expect(leaders.join('')).to.equal('ababa');
  });

  it('leads again at once when work returns after a long term and there is no other candidate', async () => {
    const a = politician('a');
    await stage.clock.advance(LONG_MS);
    a.endWork();
    await stage.settle();
    expect(a.log).to.deep.equal(['begins', 'ends', 'begins']);
  });

  it('aborts the work at a loss, and leads again', async () => {
    const a = politician('a');
    await stage.clock.advance(LONG_MS);
    stage.expireFirst('x');
    expect(a.log[1], 'at once').to.match(/^stop: .*OWNERSHIP_LOST/);
    await stage.settle();
    expect(a.ends.map(({ outcome }) => outcome)).to.deep.equal(['lost']);
    expect(a.ends[0]).to.have.nested.property('error.code', 'OWNERSHIP_LOST');
    expect(a.log.slice(2)).to.deep.equal(['ends', 'begins']);
  });

  it('aborts the work at once when an operator removes the entry', async () => {
    const a = politician('a');
    await stage.clock.advance(LONG_MS);
    stage.server.evict(a.leadership!.key);
    expect(a.log[1]).to.match(/^stop: .*OWNERSHIP_LOST/);
    await stage.settle();
    expect(a.ends[0]).to.have.nested.property('error.reason', 'entry-removed');
    expect(a.working, 'again').to.equal(1);
  });

  it('begins the next candidacy only after the work has ended', async () => {
    const a = politician('a', { stubborn: true });
    await stage.settle();
    stage.expireFirst('x');
    await stage.clock.advance(TTL_MS);
    expect(a.working).to.equal(1);
    expect(a.log).to.have.lengthOf(2);
    expect(stage.values('x'), 'it does not even stand').to.deep.equal([]);
    a.endWork();
    await stage.settle();
    expect(a.log.slice(2)).to.deep.equal(['ends', 'begins']);
  });

  it('continues when the work throws after a loss, and passes the error to onEnd as the cause', async () => {
    const a = politician('a', { stubborn: true });
    const failure = new Error('half done');
    await stage.clock.advance(LONG_MS);
    stage.expireFirst('x');
    a.endWork(failure);
    await stage.settle();
    expect(a.ends[0]).to.have.nested.property('error.cause', failure);
    expect(a.working).to.equal(1);
  });

  it('rejects with the error of the work, after it has resigned', async () => {
    const a = politician('a');
    const failure = new Error('no ink');
    await stage.settle();
    a.endWork(failure);
    expect(await failureOf(a.led)).to.equal(failure);
    expect(stage.values('x')).to.deep.equal([]);
    expect(a.ends).to.deep.equal([{ outcome: 'failed', error: failure }]);
  });

  it('rejects with an error of the work even if the error is a retryable QueueLockError', async () => {
    const a = politician('a');
    const failure = new QueueLockError('TIMEOUT', 'another lock was taken');
    await stage.settle();
    a.endWork(failure);
    expect(await failureOf(a.led)).to.equal(failure);
  });

  it('rejects with the error OWNERSHIP_LOST of another lock if the work throws it', async () => {
    const a = politician('a');
    const failure = new QueueLockError('OWNERSHIP_LOST', 'the other lock was lost');
    await stage.settle();
    a.endWork(failure);
    expect(await failureOf(a.led)).to.equal(failure);
    expect(a.ends).to.deep.equal([{ outcome: 'failed', error: failure }]);
  });

  it('rejects with the error that onEnd throws', async () => {
    const failure = new Error('enough of it');
    const onEnd = (): void => {
      throw failure;
    };
    const a = politician('a', { onEnd });
    await stage.settle();
    a.endWork();
    expect(await failureOf(a.led)).to.equal(failure);
    expect(stage.values('x')).to.deep.equal([]);
  });

  it('rejects with the error of the work even if onEnd throws another error', async () => {
    const failure = new Error('no ink');
    const onEnd = (): void => {
      throw new Error('no paper either');
    };
    const a = politician('a', { onEnd });
    await stage.settle();
    a.endWork(failure);
    expect(await failureOf(a.led)).to.equal(failure);
  });

  it('resolves when its signal aborts while it waits, and leaves the queue', async () => {
    await stage.client().acquire('x');
    const a = politician('a');
    await stage.settle();
    expect(stage.values('x')).to.have.lengthOf(2);
    a.retire();
    await a.led;
    await stage.settle();
    expect(stage.values('x')).to.have.lengthOf(1);
    expect(a.log).to.deep.equal([]);
  });

  it('aborts the work when its signal aborts, and resolves after it has resigned', async () => {
    const a = politician('a', { stubborn: true });
    let resolved = false;
    void a.led.then(() => (resolved = true));
    await stage.settle();
    a.retire();
    expect(a.log[1]).to.equal('stop: retired');
    await stage.settle();
    expect(a.leadership!.held, 'the work leads to its end').to.equal(true);
    expect(resolved).to.equal(false);
    a.endWork();
    await a.led;
    expect(stage.values('x')).to.deep.equal([]);
    expect(a.ends).to.deep.equal([{ outcome: 'resigned' }]);
  });

  it('creates no candidate when its signal has already aborted', async () => {
    await politician('a', { signal: AbortSignal.abort() }).led;
    expect(stage.server.sessionIds).to.deep.equal([]);
  });

  it('rejects a call without a signal', async () => {
    const { led } = politician('a', { signal: undefined as unknown as AbortSignal });
    expect(await failureOf(led)).to.include({ code: 'INVALID_ARGUMENT' });
  });

  it('leads again after a long outage of the server, and sends few requests during the outage', async () => {
    let reachable = true;
    let attempts = 0;
    const intercept: Intercept = async (_call, proceed) => {
      if (reachable) return proceed();
      attempts += 1;
      throw new QueueLockError('UNAVAILABLE', 'unplugged');
    };
    const a = politician('a', {}, stage.client({ backend: { intercept } }));
    await stage.settle();
    reachable = false;
    await stage.clock.advance(TTL_MS);
    expect(a.ends.map(({ outcome }) => outcome)).to.deep.equal(['lost']);
    const before = attempts;
    await stage.clock.advance(600_000);
    expect(attempts - before, 'in ten minutes').to.be.within(50, 3_000);
    reachable = true;
    await stage.clock.advance(10_000);
    expect(a.working).to.equal(1);
  });

  it('rejects at once when minRemainingMs is the whole TTL, which no heartbeat can prove', async () => {
    const { led } = politician('a', { minRemainingMs: TTL_MS });
    expect(await failureOf(led)).to.include({ code: 'INVALID_ARGUMENT' });
  });

  it('emits NOT_ENOUGH_TIME for each candidacy with too little proven time', async () => {
    const intercept: Intercept = async (call, proceed) => {
      const response = await proceed();
      if (call === 'renew') await new Promise<void>((resolve) => stage.clock.after(TTL_MS / 10, resolve));
      return response;
    };
    const own = election(stage.client({ backend: { intercept } }), 'x', { value: 'a', clock: stage.clock });
    const failures: unknown[] = [];
    own.errors$.subscribe(({ error }) => failures.push((error as QueueLockError).code));
    const other = await stage.client().acquire('x');
    const retiring = new AbortController();
    const led = own.lead(() => undefined, { minRemainingMs: TTL_MS * 0.95, signal: retiring.signal });
    await stage.clock.advance(TTL_MS / 2);
    void other.release();
    await stage.clock.advance(TTL_MS * 3);
    expect(failures.length).to.be.greaterThan(1);
    expect(new Set(failures)).to.deep.equal(new Set(['NOT_ENOUGH_TIME']));
    retiring.abort();
    await stage.clock.advance(TTL_MS);
    await led;
  });

  it('rejects with an error that no retry can help, such as ACCESS_DENIED', async () => {
    const intercept: Intercept = async (call, proceed) => {
      if (call === 'enqueue') throw new QueueLockError('ACCESS_DENIED', 'not for you');
      return proceed();
    };
    const a = politician('a', {}, stage.client({ backend: { intercept } }));
    expect(await failureOf(a.led)).to.include({ code: 'ACCESS_DENIED' });
  });

  it('rejects with CLOSED when the client is closed, after the work has ended', async () => {
    const client = stage.client();
    const a = politician('a', { stubborn: true }, client);
    await stage.settle();
    await client.close();
    expect(a.log[1]).to.match(/^stop: .*closed/);
    expect(a.working).to.equal(1);
    a.endWork();
    expect(await failureOf(a.led)).to.include({ code: 'CLOSED' });
    expect(a.ends[0]).to.have.nested.property('error.reason', 'client-closed');
  });

  it('rejects a call inside the work of the same election, which would wait for itself', async () => {
    const retiring = new AbortController();
    const client = stage.client();
    const own = election(client, 'x', { value: 'a' });
    const failure = await failureOf(own.lead(() => own.campaign(), { signal: retiring.signal }));
    expect(failure).to.include({ code: 'REENTRANT' });
  });

  describe('when its signal aborts', () => {
    /**
     * Runs `lead`, and aborts its signal at the `at`-th request, reply, event or work of the run. If `behind`
     * is true, another leader is ahead.
     */
    async function giveUp(behind: boolean, at: number): Promise<{ points: number; begun: number }> {
      const scene = new MemoryStage();
      const giving = new AbortController();
      const first = behind ? await scene.client().acquire('x') : undefined;
      let [points, begun, working] = [0, 0, 0];
      const point = async (): Promise<void> => {
        if (points++ === at) giving.abort(new Error('given up'));
        await new Promise<void>((resolve) => scene.clock.after(10, resolve));
      };
      const intercept: Intercept = async (call, proceed) => {
        if (call === 'close') return proceed();
        await point();
        const response = await proceed();
        await point();
        return response;
      };
      const deliver = (arrive: () => void): void => void point().then(arrive);
      const client = scene.client({ backend: { intercept, deliver } });
      const work = async (): Promise<void> => {
        expect(giving.signal.aborted, 'no work begins after the end').to.equal(false);
        begun += 1;
        expect(++working).to.equal(1);
        await point();
        working -= 1;
      };
      const led = election(client, 'x', { value: 'a' }).lead(work, { signal: giving.signal });
      await scene.clock.advance(100);
      await first?.release();
      await scene.clock.advance(300);
      giving.abort(new Error('at last'));
      await scene.clock.advance(200);
      await led;
      expect(scene.server.entryCount).to.equal(0);
      await Promise.all([scene.close(), scene.clock.advance(1_000)]);
      return { points, begun };
    }

    for (const behind of [false, true]) {
      it(`leaves no entry, whichever await the abort interrupts (${behind ? 'behind another leader' : 'without a leader'})`, async () => {
        const { points } = await giveUp(behind, Infinity);
        const begun = new Set<boolean>();
        for (let at = 0; at < points; at += 1) begun.add((await giveUp(behind, at)).begun > 0);
        expect([...begun], 'before it leads and while it does').to.have.members([true, false]);
      });
    }
  });
});
