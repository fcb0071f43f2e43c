import { QueueLockError, type LockClient } from '@queuelock/core';
import type { Intercept } from '@queuelock/memory';
import { expect } from 'chai';
import { NEVER, Observable, Subject, of, throwError } from 'rxjs';
import { election, underLock, whileLeader, type Election } from '../src/index.ts';
import { MemoryStage, TTL_MS } from './election-stage.ts';
import { follow, type Followed } from './frame.ts';

/** A source that is written by the test. */
interface Source {
  readonly input$: Subject<number>;
  readonly source$: Observable<number>;
  /** How often it is subscribed to now. */
  readonly open: () => number;
  /** How often it was subscribed to in all. */
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

describe('streams of leading', () => {
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
    election(client, 'x', { value });

  function watch<T>(source$: Observable<T>): Followed<T> {
    const made = follow(source$);
    followed.push(made);
    return made;
  }

  /** Sessions refuse to let anybody join. */
  const forbidding: Intercept = async (call, proceed) => {
    if (call === 'enqueue') throw new QueueLockError('ACCESS_DENIED', 'not for you');
    return proceed();
  };

  describe('isLeader$', () => {
    it('campaigns when subscribed to and resigns when nobody is any more', async () => {
      const { isLeader$ } = candidate('a');
      await stage.settle();
      expect(stage.values('x'), 'nothing happens before').to.deep.equal([]);
      const seen = watch(isLeader$);
      expect(seen.values).to.deep.equal([false]);
      await stage.settle();
      expect(seen.values).to.deep.equal([false, true]);
      seen.stop();
      await stage.settle();
      expect(stage.values('x')).to.deep.equal([]);
    });

    it('withdraws the candidate when nobody waits any more', async () => {
      await stage.client().acquire('x');
      const seen = watch(candidate('a').isLeader$);
      await stage.settle();
      expect(stage.values('x')).to.have.lengthOf(2);
      seen.stop();
      await stage.settle();
      expect(stage.values('x')).to.have.lengthOf(1);
    });

    it('is one candidate for all who subscribe, and tells late ones at once', async () => {
      const own = candidate('a');
      const first = watch(own.isLeader$);
      await stage.settle();
      const second = watch(own.isLeader$);
      expect(second.values).to.deep.equal([true]);
      expect(stage.values('x')).to.deep.equal(['a']);
      first.stop();
      await stage.settle();
      expect(second.last, 'it leads for the other').to.equal(true);
      expect(stage.values('x')).to.deep.equal(['a']);
    });

    it('is false synchronously with the loss of the session, and true again after the next election', async () => {
      const seen = watch(candidate('a').isLeader$);
      await stage.settle();
      stage.expireFirst('x');
      expect(seen.values).to.deep.equal([false, true, false]);
      await stage.settle();
      expect(seen.values).to.deep.equal([false, true, false, true]);
    });

    it('is false synchronously when an operator removes the entry', async () => {
      const own = candidate('a');
      const [seen, leadership] = [watch(own.isLeader$), watch(own.leadership$)];
      await stage.settle();
      stage.server.evict(leadership.last!.key);
      expect(seen.last).to.equal(false);
      await stage.settle();
      expect(seen.last).to.equal(true);
    });

    it('is false before whoever listens to the signal of the leadership hears of the loss', async () => {
      const own = candidate('a');
      const [seen, leadership] = [watch(own.isLeader$), watch(own.leadership$)];
      await stage.settle();
      const told: unknown[] = [];
      leadership.last!.signal.addEventListener('abort', () => told.push(seen.last));
      stage.expireFirst('x');
      expect(told).to.deep.equal([false]);
    });

    it('is false for whoever subscribes after the deadline, although no timer has run', async () => {
      const own = candidate('a');
      const early = watch(own.isLeader$);
      await stage.settle();
      stage.clock.stall(TTL_MS);
      expect(watch(own.isLeader$).values).to.deep.equal([false]);
      expect(early.last, 'and for all others from then on').to.equal(false);
    });

    it('is false at once when the leadership is given up by hand, and campaigns again', async () => {
      const own = candidate('a');
      const [seen, leadership] = [watch(own.isLeader$), watch(own.leadership$)];
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

    it('stays true through doubt', async () => {
      let silent = false;
      const intercept: Intercept = async (call, proceed) => {
        if (silent && call === 'renew') throw new QueueLockError('UNAVAILABLE', 'no answer');
        return proceed();
      };
      const client = stage.client({ backend: { intercept } });
      const own = candidate('a', client);
      const [seen, leadership, sessions] = [
        watch(own.isLeader$),
        watch(own.leadership$),
        watch(client.session$),
      ];
      await stage.settle();
      silent = true;
      await stage.clock.advance(TTL_MS / 2);
      silent = false;
      await stage.clock.advance(TTL_MS);
      expect(sessions.values.map(({ status }) => status).slice(-2)).to.deep.equal(['doubtful', 'alive']);
      expect(seen.values).to.deep.equal([false, true]);
      expect(leadership.values, 'one and the same').to.have.lengthOf(2);
    });

    it('rides out a server that cannot be reached', async () => {
      let reachable = false;
      const intercept: Intercept = async (_call, proceed) => {
        if (!reachable) throw new QueueLockError('UNAVAILABLE', 'unplugged');
        return proceed();
      };
      const seen = watch(candidate('a', stage.client({ backend: { intercept } })).isLeader$);
      await stage.clock.advance(60_000);
      expect(seen).to.deep.include({ values: [false], end: undefined });
      reachable = true;
      await stage.clock.advance(10_000);
      expect(seen.last).to.equal(true);
    });

    it('errors with what no repetition helps, and completes when the client is closed', async () => {
      const refused = watch(candidate('a', stage.client({ backend: { intercept: forbidding } })).isLeader$);
      await stage.settle();
      expect(refused.end).to.include({ code: 'ACCESS_DENIED' });
      const client = stage.client();
      const [leads, waits] = [
        watch(candidate('b', client).isLeader$),
        watch(candidate('c', client).isLeader$),
      ];
      await stage.settle();
      await client.close();
      expect(leads).to.deep.include({ values: [false, true, false], end: 'complete' });
      expect(waits).to.deep.include({ values: [false], end: 'complete' });
    });
  });

  describe('whileLeader', () => {
    it('subscribes while it leads, unsubscribes synchronously at a loss, and subscribes again', async () => {
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

    it('lets nothing pass after the deadline, although no timer has run', async () => {
      const { input$, source$, open } = source();
      const seen = watch(source$.pipe(whileLeader(candidate('a'))));
      await stage.settle();
      stage.clock.stall(TTL_MS);
      input$.next(1);
      expect(seen.values).to.deep.equal([]);
      expect(open()).to.equal(0);
    });

    it('takes no end of the source that comes after the deadline', async () => {
      const { input$, source$, open } = source();
      const seen = watch(source$.pipe(whileLeader(candidate('a'))));
      await stage.settle();
      stage.clock.stall(TTL_MS);
      input$.complete();
      expect(seen.end).to.equal(undefined);
      expect(open()).to.equal(0);
    });

    it('completes and errors with the source, and resigns', async () => {
      const done = watch(of(1, 2).pipe(whileLeader(candidate('a'))));
      const failure = new Error('torn');
      const failed = watch(throwError(() => failure).pipe(whileLeader(candidate('b'))));
      await stage.settle();
      expect(done).to.deep.include({ values: [1, 2], end: 'complete' });
      expect(failed.end).to.equal(failure);
      expect(stage.values('x')).to.deep.equal([]);
    });

    it('shares the candidate of all that is under the same election', async () => {
      const own = candidate('a');
      const [one, other] = [source(), source()];
      watch(one.source$.pipe(whileLeader(own)));
      watch(other.source$.pipe(whileLeader(own)));
      await stage.settle();
      expect([one.open(), other.open()]).to.deep.equal([1, 1]);
      expect(stage.values('x')).to.deep.equal(['a']);
    });

    it('has never two sources of rivals open, whoever is lost', async () => {
      const rivals = ['a', 'b', 'c'].map((value) => ({ ...source(), own: candidate(value) }));
      for (const { source$, own } of rivals) watch(source$.pipe(whileLeader(own)));
      for (let loss = 0; loss < 12; loss += 1) {
        await stage.settle();
        expect(rivals.map(({ open }) => open()).sort()).to.deep.equal([0, 0, 1]);
        stage.expireFirst('x');
      }
    });

    it('errors and ends as the candidate does', async () => {
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
    it('subscribes when the lock is held, and releases when the source has ended', async () => {
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
      it(`errors with OWNERSHIP_LOST when ${how}, synchronously and after it has left the source`, async () => {
        const { source$, open } = source();
        const openWhenTold: number[] = [];
        const seen = watch(
          new Observable<number>((subscriber) =>
            source$.pipe(underLock(stage.client(), 'x')).subscribe({
              error: (error: unknown) => {
                openWhenTold.push(open());
                subscriber.error(error);
              },
            }),
          ),
        );
        await stage.settle();
        expect(open()).to.equal(1);
        lose();
        expect(openWhenTold).to.deep.equal([0]);
        expect(seen.end).to.include({ code: 'OWNERSHIP_LOST' });
      });
    }

    it('lets nothing pass after the deadline, although no timer has run', async () => {
      const { input$, source$ } = source();
      const seen = watch(source$.pipe(underLock(stage.client(), 'x')));
      await stage.settle();
      stage.clock.stall(TTL_MS);
      input$.next(1);
      expect(seen.values).to.deep.equal([]);
      expect(seen.end).to.include({ code: 'OWNERSHIP_LOST' });
    });

    it('does not subscribe again after doubt', async () => {
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
      expect(sessions.values.map(({ status }) => status).slice(-2)).to.deep.equal(['doubtful', 'alive']);
      input$.next(1);
      expect(seen.values).to.deep.equal([1]);
      expect(opened()).to.equal(1);
    });

    it('errors with what ended the wait', async () => {
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

    it('leaves the line when unsubscribed from, also while the join is on its way', async () => {
      const client = stage.client();
      watch(NEVER.pipe(underLock(client, 'x'))).stop();
      const waiting = watch(NEVER.pipe(underLock(client, 'x')));
      await stage.settle();
      waiting.stop();
      await stage.settle();
      expect(stage.values('x')).to.deep.equal([]);
    });

    it('takes each subscription for a claim of its own', async () => {
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

    it('refuses bad arguments at the call', () => {
      const client = stage.client();
      expect(() => underLock(client, '')).to.throw(QueueLockError, 'INVALID_ARGUMENT');
      expect(() => underLock(client, 'x', { timeoutMs: -1 })).to.throw(QueueLockError, 'INVALID_ARGUMENT');
    });
  });
});
