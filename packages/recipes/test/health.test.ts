import { createLockClient, type SessionState } from '@queuelock/core';
import { createMemoryServer, memory, virtualClock } from '@queuelock/memory';
import { expect } from 'chai';
import { BehaviorSubject } from 'rxjs';
import { healthOf, type HealthState } from '../src/index.ts';
import { nextChangeAt } from '../src/health-judge.ts';
import { failureOf } from './election-stage.ts';
import { follow } from './frame.ts';

const BOUND = { checkInWithinMs: 1_000 };

describe('health of a lock client', () => {
  const clock = virtualClock();
  const stage = (
    options: { readonly unreadyAfterMs?: number } = {},
  ): { readonly session$: BehaviorSubject<SessionState>; readonly health: ReturnType<typeof healthOf> } => {
    const session$ = new BehaviorSubject<SessionState>({ status: 'idle' });
    return { session$, health: healthOf({ session$ }, { clock, ...options }) };
  };
  const checks = ({ ready }: HealthState): readonly string[] => ready.problems.map(({ check }) => check);

  it('is ready only while the session is proven, or idle because no call has needed it', () => {
    const { session$, health } = stage();
    const ready = (['idle', 'opening', 'alive', 'suspect', 'lost', 'closed'] as const).map((status) => {
      session$.next({ status });
      const state = health.now();
      expect(state.live, status).to.deep.equal({ ok: true, problems: [] });
      return [state.session, state.ready.ok];
    });
    expect(ready).to.deep.equal([
      ['idle', true],
      ['opening', false],
      ['alive', true],
      ['suspect', false],
      ['lost', false],
      ['closed', false],
    ]);
  });

  it('stays ready until the session has been suspect or lost for unreadyAfterMs', async () => {
    const { session$, health } = stage({ unreadyAfterMs: 500 });
    session$.next({ status: 'alive' });
    session$.next({ status: 'suspect' });
    await clock.advance(400);
    session$.next({ status: 'lost' });
    expect(health.now().ready.ok).to.equal(true);
    await clock.advance(100);
    expect(checks(health.now())).to.deep.equal(['session']);
    session$.next({ status: 'alive' });
    expect(health.now().ready.ok).to.equal(true);
    session$.next({ status: 'closed' });
    expect(checks(health.now())).to.deep.equal(['session']);
  });

  it('fails the liveness check while supervised work is overdue, until the work checks in or ends', async () => {
    const { health } = stage();
    const states = follow(health.state$);
    let checkIn!: () => void;
    let end!: () => void;
    const work = health.supervise(
      'scheduler',
      (given) => {
        checkIn = given;
        return new Promise<string>((resolve) => (end = () => resolve('done')));
      },
      BOUND,
    );
    await clock.advance(999);
    expect(health.now().live.ok).to.equal(true);
    await clock.advance(1);
    expect(health.now().live).to.deep.equal({
      ok: false,
      problems: [{ check: 'work', text: 'the work "scheduler" has not checked in within 1000 ms' }],
    });
    expect(health.now().ready.ok).to.equal(false);
    checkIn();
    expect(health.now().live.ok).to.equal(true);
    await clock.advance(5_000);
    end();
    expect(await work).to.equal('done');
    checkIn();
    await clock.advance(5_000);
    expect(states.values.map(({ live }) => live.ok)).to.deep.equal([true, false, true, false, true]);
    states.stop();
    const failing = health.supervise('x', () => Promise.reject(new Error('no disk')), BOUND);
    expect(String(await failureOf(failing))).to.equal('Error: no disk');
    await clock.advance(5_000);
    expect(health.now().live.ok, 'work that threw has ended').to.equal(true);
  });

  it('is never ready again after drain, but stays live', () => {
    const { health } = stage();
    const states = follow(health.state$);
    health.drain();
    health.drain();
    expect(checks(health.now())).to.deep.equal(['draining']);
    expect(health.now().live.ok).to.equal(true);
    expect(states.values.map(({ ready }) => ready.ok)).to.deep.equal([true, false]);
    states.stop();
  });

  it('is computed again when the next check-in or unreadyAfterMs is due', () => {
    const works = [1, 2, 3].map((n) => ({ name: `${n}`, checkInWithinMs: n * 100, checkedInAt: 0 }));
    const facts = { session: { status: 'lost', since: 0 }, works, isDraining: false } as const;
    const at = (moment: number): number | undefined =>
      nextChangeAt(facts, { at: moment, unreadyAfterMs: 250 });
    expect([0, 100, 200, 250, 300].map(at)).to.deep.equal([100, 200, 250, 300, undefined]);
  });

  it('follows the session of a real client, and completes when the client is closed', async () => {
    const locks = createLockClient(memory({ server: createMemoryServer() }));
    const health = healthOf(locks);
    const states = follow(health.state$);
    await locks.run('report', () => expect(health.now()).to.include({ session: 'alive' }));
    await locks.close();
    expect(states.end).to.equal('complete');
    const seen = states.values.map(({ session }) => session);
    expect([seen[0], seen.at(-1)]).to.deep.equal(['idle', 'closed']);
    expect(health.now().ready.ok).to.equal(false);
  });

  it('rejects invalid arguments with an error that states argument, value and rule', async () => {
    const { health, session$ } = stage();
    expect(() => healthOf({ session$ }, { unreadyAfterMs: -1 })).to.throw(/unreadyAfterMs.*from 0 up/);
    expect(() => healthOf(undefined as never)).to.throw(/client must be an object/);
    const error = await failureOf(health.supervise('x', () => 0, { checkInWithinMs: 0 }));
    expect(String(error)).to.match(/INVALID_ARGUMENT.*checkInWithinMs.*from 1 up/);
  });
});
