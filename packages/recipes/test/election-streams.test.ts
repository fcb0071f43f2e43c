import { QueueLockError, type LockClient } from '@queuelock/core';
import type { Intercept } from '@queuelock/memory';
import { expect } from 'chai';
import { NEVER, Observable, Subject, distinctUntilChanged, map, of, throwError } from 'rxjs';
import { election, underLock, whileLeader, type Election } from '../src/index.ts';
import { MemoryStage, TTL_MS } from './election-stage.ts';
import { follow, type Followed } from './frame.ts';

/** An observable whose emissions a test controls. */
interface Source {
  readonly input$: Subject<number>;
  readonly source$: Observable<number>;
  /** Returns how many subscriptions the observable has now. */
  readonly open: () => number;
  /** Returns how many subscriptions the observable has had so far. */
  readonly opened: () => number;
}

function source(): Source {
  const input$ = new Subject<number>();
  let [open, opened] = [0, 0];
  const source$ = new Observable<number>((subscriber) => {
    open += 1;
    opened += 1;
    subscriber.add(() => (open -= 1));
    subscriber.add(input$.subscribe(subscriber));
  });
  return { input$, source$, open: () => open, opened: () => opened };
}

describe('streams of elections and locks', () => {
  let stage: MemoryStage;
  let followed: Followed<unknown>[];

  beforeEach(() => {
    stage = new MemoryStage();
    followed = [];
  });

  afterEach('leaves nothing behind', async () => {
    for (const { stop } of followed) stop();
    await stage.settle();
    await stage.close();
  });

  const candidate = (value: string, client: LockClient = stage.client()): Election =>
    election(client, 'x', { value, clock: stage.clock });

  /** Emits whether the candidate of the election leads. Subscribing creates the candidate. */
  function leadsIn({ candidacy$ }: Election): Observable<boolean> {
    return candidacy$.pipe(
      map((leadership) => leadership !== undefined),
      distinctUntilChanged(),
    );
  }

  function watch<T>(source$: Observable<T>): Followed<T> {
    const made = follow(source$);
    followed.push(made);
    return made;
  }

  /** Makes the server reject every enqueue. */
  const forbidding: Intercept = async (call, proceed) => {
    if (call === 'enqueue') throw new QueueLockError('ACCESS_DENIED', 'not for you');
    return proceed();
  };

  describe('candidacy$', () => {
    it('campaigns when subscribed to and resigns after the last unsubscription', async () => {
      const leads$ = leadsIn(candidate('a'));
      await stage.settle();
      expect(stage.values('x'), 'nothing happens before').to.deep.equal([]);
      const seen = watch(leads$);
      expect(seen.values).to.deep.equal([false]);
      await stage.settle();
      expect(seen.values).to.deep.equal([false, true]);
      seen.stop();
      await stage.settle();
      expect(stage.values('x')).to.deep.equal([]);
    });

    it('withdraws the candidate after the last unsubscription', async () => {
      await stage.client().acquire('x');
      const seen = watch(leadsIn(candidate('a')));
      await stage.settle();
      expect(stage.values('x')).to.have.lengthOf(2);
      seen.stop();
      await stage.settle();
      expect(stage.values('x')).to.have.lengthOf(1);
    });

    it('shares one candidate among all subscribers', async () => {
      const own = candidate('a');
      const first = watch(leadsIn(own));
      await stage.settle();
      const second = watch(leadsIn(own));
      expect(second.values).to.deep.equal([true]);
      expect(stage.values('x')).to.deep.equal(['a']);
      first.stop();
      await stage.settle();
      expect(second.last, 'it leads for the other').to.equal(true);
      expect(stage.values('x')).to.deep.equal(['a']);
    });

    it('emits undefined synchronously when the session is lost', async () => {
      const seen = watch(leadsIn(candidate('a')));
      await stage.settle();
      stage.expireFirst('x');
      expect(seen.values).to.deep.equal([false, true, false]);
      await stage.settle();
      expect(seen.values).to.deep.equal([false, true, false, true]);
    });

    it('emits undefined synchronously when an operator removes the entry', async () => {
      const own = candidate('a');
      const [seen, leadership] = [watch(leadsIn(own)), watch(own.candidacy$)];
      await stage.settle();
      stage.server.evict(leadership.last!.key);
      expect(seen.last).to.equal(false);
      await stage.settle();
      expect(seen.last).to.equal(true);
    });

    it("emits undefined before the leadership's signal notifies its listeners of the loss", async () => {
      const own = candidate('a');
      const [seen, leadership] = [watch(leadsIn(own)), watch(own.candidacy$)];
      await stage.settle();
      const notified: unknown[] = [];
      leadership.last!.signal.addEventListener('abort', () => notified.push(seen.last));
      stage.expireFirst('x');
      expect(notified).to.deep.equal([false]);
    });

    it('emits undefined to a new subscriber after the deadline of the session', async () => {
      const own = candidate('a');
      const early = watch(leadsIn(own));
      await stage.settle();
      stage.clock.stall(TTL_MS);
      expect(watch(leadsIn(own)).values).to.deep.equal([false]);
      expect(early.last, 'and for all others from then on').to.equal(false);
    });

    it('emits undefined at once when the leader resigns, and campaigns again', async () => {
      const own = candidate('a');
      const [seen, leadership] = [watch(leadsIn(own)), watch(own.candidacy$)];
      await stage.settle();
      void candidate('b').campaign();
      await stage.settle();
      const resigned = leadership.last!.resign();
      expect(seen.last).to.equal(false);
      await resigned;
      await stage.settle();
      expect(stage.values('x')).to.deep.equal(['b', 'a']);
      expect(seen.last).to.equal(false);
    });

    it('keeps the leadership while the session is suspect', async () => {
      let silent = false;
      const intercept: Intercept = async (call, proceed) => {
        if (silent && call === 'renew') throw new QueueLockError('UNAVAILABLE', 'no answer');
        return proceed();
      };
      const client = stage.client({ backend: { intercept } });
      const own = candidate('a', client);
      const [seen, leadership, sessions] = [
        watch(leadsIn(own)),
        watch(own.candidacy$),
        watch(client.session$),
      ];
      await stage.settle();
      silent = true;
      await stage.clock.advance(TTL_MS / 2);
      silent = false;
      await stage.clock.advance(TTL_MS);
      expect(sessions.values.map(({ status }) => status).slice(-2)).to.deep.equal(['suspect', 'alive']);
      expect(seen.values).to.deep.equal([false, true]);
      expect(leadership.values, 'one and the same').to.have.lengthOf(2);
    });

    it('campaigns again after the server could not be reached', async () => {
      let reachable = false;
      const intercept: Intercept = async (_call, proceed) => {
        if (!reachable) throw new QueueLockError('UNAVAILABLE', 'unplugged');
        return proceed();
      };
      const seen = watch(leadsIn(candidate('a', stage.client({ backend: { intercept } }))));
      await stage.clock.advance(60_000);
      expect(seen).to.deep.include({ values: [false], end: undefined });
      reachable = true;
      await stage.clock.advance(10_000);
      expect(seen.last).to.equal(true);
    });

    it('errors when no retry can help, and completes when the client is closed', async () => {
      const refused = watch(leadsIn(candidate('a', stage.client({ backend: { intercept: forbidding } }))));
      await stage.settle();
      expect(refused.end).to.include({ code: 'ACCESS_DENIED' });
      const client = stage.client();
      const [leads, waits] = [watch(leadsIn(candidate('b', client))), watch(leadsIn(candidate('c', client)))];
      await stage.settle();
      await client.close();
      expect(leads).to.deep.include({ values: [false, true, false], end: 'complete' });
      expect(waits).to.deep.include({ values: [false], end: 'complete' });
    });
  });

  describe('isLeader$', () => {
    it('creates no candidate when it is subscribed to', async () => {
      const seen = watch(candidate('a').isLeader$);
      await stage.clock.advance(60_000);
      expect(seen).to.deep.include({ values: [false], end: undefined });
      expect(stage.values('x')).to.deep.equal([]);
      expect(stage.server.sessionIds, 'asks no server').to.deep.equal([]);
    });

    it('is true while a candidate of candidacy$, campaign or lead leads', async () => {
      const own = candidate('a');
      const seen = watch(own.isLeader$);
      const isLeader = watch(own.candidacy$);
      await stage.settle();
      expect(seen.values).to.deep.equal([false, true]);
      isLeader.stop();
      expect(seen.values).to.deep.equal([false, true, false]);
      const leadership = await own.campaign();
      expect(seen.last).to.equal(true);
      const resigned = leadership.resign();
      expect(seen.last, 'before the server has confirmed it').to.equal(false);
      await resigned;
      const retiring = new AbortController();
      const during: unknown[] = [];
      const led = own.lead(
        () => {
          during.push(seen.last);
          retiring.abort();
        },
        { signal: retiring.signal },
      );
      await led;
      expect([during, seen.last]).to.deep.equal([[true], false]);
    });

    it('is false synchronously with the loss', async () => {
      const own = candidate('a');
      const seen = watch(own.isLeader$);
      const lost = await own.campaign();
      stage.expireFirst('x');
      expect([seen.values, lost.held]).to.deep.equal([[false, true, false], false]);
      await own.campaign();
      stage.clock.stall(TTL_MS);
      expect(watch(own.isLeader$).values).to.deep.equal([false]);
    });

    it('ignores other election objects of the same name in this process', async () => {
      const client = stage.client();
      const [own, other] = [candidate('a', client), candidate('b', client)];
      const seen = watch(own.isLeader$);
      const leadership = await other.campaign();
      expect(seen.values).to.deep.equal([false]);
      await leadership.resign();
    });

    it('emits false and completes when the client is closed', async () => {
      const client = stage.client();
      const own = candidate('a', client);
      const seen = watch(own.isLeader$);
      await own.campaign();
      await client.close();
      expect(seen).to.deep.include({ values: [false, true, false], end: 'complete' });
    });
  });

  describe('errors$', () => {
    /**
     * Simulates an unreachable server. Returns an interceptor for the client's calls, and `plugIn`, which
     * makes the server reachable.
     */
    function unplugged(): { readonly intercept: Intercept; plugIn: () => void } {
      let reachable = false;
      return {
        intercept: async (_call, proceed) => {
          if (!reachable) throw new QueueLockError('UNAVAILABLE', 'unplugged');
          return proceed();
        },
        plugIn: () => (reachable = true),
      };
    }

    it('emits each failed attempt with the time until its retry, which grows', async () => {
      const { intercept, plugIn } = unplugged();
      const own = candidate('a', stage.client({ backend: { intercept } }));
      const failures = watch(own.errors$);
      const isLeader = watch(leadsIn(own));
      await stage.clock.advance(60_000);
      expect(failures.values.length).to.be.within(8, 12);
      for (const { error } of failures.values) expect(error).to.include({ code: 'UNAVAILABLE' });
      const pauses = failures.values.map(({ retryInMs }) => retryInMs);
      expect(pauses[0]).to.be.within(80, 100);
      expect(pauses.at(-1)).to.be.within(1_600, 2_000);
      plugIn();
      await stage.clock.advance(10_000);
      expect(isLeader.last).to.equal(true);
      const notified = failures.values.length;
      await stage.clock.advance(60_000);
      expect(failures.values.length).to.equal(notified);
    });

    it('emits the failures of a call of `lead` too', async () => {
      const { intercept } = unplugged();
      const own = candidate('a', stage.client({ backend: { intercept } }));
      const failures = watch(own.errors$);
      const retiring = new AbortController();
      const led = own.lead(() => undefined, { signal: retiring.signal });
      await stage.clock.advance(30_000);
      expect(failures.values.length).to.be.within(4, 6);
      // Advances the clock until the seventh attempt has failed, so that the abort comes during the backoff
      // after it.
      while (failures.values.length < 7) await stage.clock.advance(10);
      retiring.abort();
      await led;
    });

    it('creates no candidate when it is subscribed to, and emits no earlier failures', async () => {
      const own = candidate('a');
      expect(watch(own.errors$).values).to.deep.equal([]);
      await stage.settle();
      expect(stage.values('x')).to.deep.equal([]);
    });

    it('emits nothing for an error that ends candidacy$', async () => {
      const own = candidate('a', stage.client({ backend: { intercept: forbidding } }));
      const [failures, isLeader] = [watch(own.errors$), watch(own.candidacy$)];
      await stage.settle();
      expect([failures.values, isLeader.end]).to.have.nested.property('1.code', 'ACCESS_DENIED');
      expect(failures.values).to.deep.equal([]);
    });

    it('emits ENTRY_LOST when an operator removes the entry of a candidate', async () => {
      await stage.client().acquire('x');
      const own = candidate('a');
      const failures = watch(own.errors$);
      watch(own.candidacy$);
      await stage.settle();
      stage.server.evict(stage.server.queues().get('x')![1]!.key);
      await stage.clock.advance(100);
      expect(failures.values.map(({ error }) => (error as QueueLockError).code)).to.deep.equal([
        'ENTRY_LOST',
      ]);
      expect(stage.values('x')).to.have.lengthOf(2);
    });
  });

  describe('whileLeader', () => {
    it('subscribes only while it leads, and unsubscribes synchronously at a loss', async () => {
      const { input$, source$, open } = source();
      const seen = watch(source$.pipe(whileLeader(candidate('a'))));
      input$.next(1);
      await stage.settle();
      expect(open()).to.equal(1);
      input$.next(2);
      stage.expireFirst('x');
      expect(open(), 'at once').to.equal(0);
      input$.next(3);
      await stage.settle();
      expect(open()).to.equal(1);
      input$.next(4);
      expect(seen.values).to.deep.equal([2, 4]);
      seen.stop();
      expect(open()).to.equal(0);
      await stage.settle();
      expect(stage.values('x')).to.deep.equal([]);
    });

    it('emits no value after the deadline of the session', async () => {
      const { input$, source$, open } = source();
      const seen = watch(source$.pipe(whileLeader(candidate('a'))));
      await stage.settle();
      stage.clock.stall(TTL_MS);
      input$.next(1);
      expect(seen.values).to.deep.equal([]);
      expect(open()).to.equal(0);
    });

    it('does not complete when the source completes after the deadline of the session', async () => {
      const { input$, source$, open } = source();
      const seen = watch(source$.pipe(whileLeader(candidate('a'))));
      await stage.settle();
      stage.clock.stall(TTL_MS);
      input$.complete();
      expect(seen.end).to.equal(undefined);
      expect(open()).to.equal(0);
    });

    it('resigns when the source completes or errors', async () => {
      const done = watch(of(1, 2).pipe(whileLeader(candidate('a'))));
      const failure = new Error('torn');
      const failed = watch(throwError(() => failure).pipe(whileLeader(candidate('b'))));
      await stage.settle();
      expect(done).to.deep.include({ values: [1, 2], end: 'complete' });
      expect(failed.end).to.equal(failure);
      expect(stage.values('x')).to.deep.equal([]);
    });

    it('shares one candidate among all uses of the same election object', async () => {
      const own = candidate('a');
      const [one, other] = [source(), source()];
      watch(one.source$.pipe(whileLeader(own)));
      watch(other.source$.pipe(whileLeader(own)));
      await stage.settle();
      expect([one.open(), other.open()]).to.deep.equal([1, 1]);
      expect(stage.values('x')).to.deep.equal(['a']);
    });

    it('never subscribes to the sources of two candidates of one election at the same time', async () => {
      const candidates = ['a', 'b', 'c'].map((value) => ({ ...source(), own: candidate(value) }));
      for (const { source$, own } of candidates) watch(source$.pipe(whileLeader(own)));
      for (let loss = 0; loss < 12; loss += 1) {
        await stage.settle();
        expect(candidates.map(({ open }) => open()).sort()).to.deep.equal([0, 0, 1]);
        stage.expireFirst('x');
      }
    });

    it('errors and completes as candidacy$ does', async () => {
      const refused = watch(
        NEVER.pipe(whileLeader(candidate('a', stage.client({ backend: { intercept: forbidding } })))),
      );
      const client = stage.client();
      const closed = watch(NEVER.pipe(whileLeader(candidate('b', client))));
      await stage.settle();
      expect(refused.end).to.include({ code: 'ACCESS_DENIED' });
      await client.close();
      expect(closed.end).to.equal('complete');
    });
  });

  describe('underLock', () => {
    it('subscribes when the lock is held, and releases when the source has completed', async () => {
      const holder = await stage.client().acquire('x');
      const { input$, source$, open } = source();
      const seen = watch(source$.pipe(underLock(stage.client(), 'x')));
      await stage.settle();
      expect(open()).to.equal(0);
      await holder.release();
      await stage.settle();
      expect(open()).to.equal(1);
      input$.next(1);
      input$.complete();
      expect(seen).to.deep.include({ values: [1], end: 'complete' });
      await stage.settle();
      expect(stage.values('x')).to.deep.equal([]);
    });

    it('errors with the error of the source, and releases', async () => {
      const failure = new Error('torn');
      const seen = watch(throwError(() => failure).pipe(underLock(stage.client(), 'x')));
      await stage.settle();
      expect(seen.end).to.equal(failure);
      expect(stage.values('x')).to.deep.equal([]);
    });

    for (const [how, lose] of [
      ['the session ends', () => stage.expireFirst('x')],
      ['an operator removes the entry', () => stage.server.evict(stage.server.queues().get('x')![0]!.key)],
    ] as const) {
      it(`unsubscribes from the source before it errors with OWNERSHIP_LOST when ${how}`, async () => {
        const { source$, open } = source();
        const openAtError: number[] = [];
        const seen = watch(
          new Observable<number>((subscriber) =>
            source$.pipe(underLock(stage.client(), 'x')).subscribe({
              error: (error: unknown) => {
                openAtError.push(open());
                subscriber.error(error);
              },
            }),
          ),
        );
        await stage.settle();
        expect(open()).to.equal(1);
        lose();
        expect(openAtError).to.deep.equal([0]);
        expect(seen.end).to.include({ code: 'OWNERSHIP_LOST' });
      });
    }

    it('emits no value after the deadline, although no timer has run', async () => {
      const { input$, source$ } = source();
      const seen = watch(source$.pipe(underLock(stage.client(), 'x')));
      await stage.settle();
      stage.clock.stall(TTL_MS);
      input$.next(1);
      expect(seen.values).to.deep.equal([]);
      expect(seen.end).to.include({ code: 'OWNERSHIP_LOST' });
    });

    it('does not subscribe to the source again after the session was suspect', async () => {
      let silent = false;
      const intercept: Intercept = async (call, proceed) => {
        if (silent && call === 'renew') throw new QueueLockError('UNAVAILABLE', 'no answer');
        return proceed();
      };
      const { input$, source$, opened } = source();
      const client = stage.client({ backend: { intercept } });
      const sessions = watch(client.session$);
      const seen = watch(source$.pipe(underLock(client, 'x')));
      await stage.settle();
      silent = true;
      await stage.clock.advance(TTL_MS / 2);
      silent = false;
      await stage.clock.advance(TTL_MS);
      expect(sessions.values.map(({ status }) => status).slice(-2)).to.deep.equal(['suspect', 'alive']);
      input$.next(1);
      expect(seen.values).to.deep.equal([1]);
      expect(opened()).to.equal(1);
    });

    it('errors with the error that ended the wait for the lock', async () => {
      await stage.client().acquire('x');
      const giving = new AbortController();
      const client = stage.client();
      const timed = watch(NEVER.pipe(underLock(client, 'x', { timeoutMs: 50 })));
      const aborted = watch(NEVER.pipe(underLock(client, 'x', { signal: giving.signal })));
      const closed = watch(NEVER.pipe(underLock(client, 'x')));
      await stage.clock.advance(50);
      expect(timed.end).to.include({ code: 'TIMEOUT' });
      giving.abort(new Error('enough'));
      expect(aborted.end).to.equal(giving.signal.reason);
      await client.close();
      expect(closed.end).to.include({ code: 'CLOSED' });
    });

    it('leaves the queue when it is unsubscribed while its request to join is in flight', async () => {
      const client = stage.client();
      watch(NEVER.pipe(underLock(client, 'x'))).stop();
      const waiting = watch(NEVER.pipe(underLock(client, 'x')));
      await stage.settle();
      waiting.stop();
      await stage.settle();
      expect(stage.values('x')).to.deep.equal([]);
    });

    it('joins the queue separately for each subscription', async () => {
      const { source$, open } = source();
      const locked$ = source$.pipe(underLock(stage.client(), 'x'));
      const first = watch(locked$);
      watch(locked$);
      await stage.settle();
      expect(open()).to.equal(1);
      first.stop();
      expect(open()).to.equal(0);
      await stage.settle();
      expect(open()).to.equal(1);
    });

    it('throws for invalid arguments at the call', () => {
      const client = stage.client();
      expect(() => underLock(client, '')).to.throw(QueueLockError, 'INVALID_ARGUMENT');
      expect(() => underLock(client, 'x', { timeoutMs: -1 })).to.throw(QueueLockError, 'INVALID_ARGUMENT');
    });
  });
});
