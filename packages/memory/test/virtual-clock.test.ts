import { setTimeout as elapsed } from 'node:timers/promises';
import { expect } from 'chai';
import { virtualClock } from '@queuelock/memory';

describe('a virtual clock', () => {
  it('does not move by itself', async () => {
    const clock = virtualClock();
    await elapsed(5);
    expect(clock.now()).to.equal(0);
    await clock.advance(7);
    expect(clock.now()).to.equal(7);
  });

  it('runs due timers earliest first, and timers of equal time in the order of their creation', async () => {
    const clock = virtualClock();
    const ran: string[] = [];
    const set = (ms: number, name: string): void => {
      clock.after(ms, () => ran.push(`${name} at ${clock.now()}`));
    };
    set(20, 'c');
    set(10, 'a');
    set(20, 'd');
    set(10, 'b');
    set(31, 'late');
    await clock.advance(30);
    expect(ran).to.deep.equal(['a at 10', 'b at 10', 'c at 20', 'd at 20']);
    expect(clock.timerCount).to.equal(1);
  });

  it('lets promise jobs run between timers, however long their chain', async () => {
    const clock = virtualClock();
    const ran: string[] = [];
    const chain = async (): Promise<void> => {
      for (let link = 0; link < 100; link += 1) await Promise.resolve();
      ran.push(`jobs at ${clock.now()}`);
    };
    clock.after(10, () => void chain());
    clock.after(11, () => ran.push('next timer'));
    await clock.advance(11);
    expect(ran).to.deep.equal(['jobs at 10', 'next timer']);
  });

  it('runs timers that timers and promise jobs have set during the same call of advance', async () => {
    const clock = virtualClock();
    const ran: number[] = [];
    const again = (): void => {
      ran.push(clock.now());
      void Promise.resolve().then(() => clock.after(10, again));
    };
    clock.after(10, again);
    await clock.advance(35);
    expect(ran).to.deep.equal([10, 20, 30]);
  });

  it('runs no timer that was cancelled', async () => {
    const clock = virtualClock();
    const cancel = clock.after(10, () => {
      throw new Error('it ran');
    });
    cancel();
    cancel();
    await clock.advance(20);
    expect(clock.timerCount).to.equal(0);
  });

  it('handles overlapping calls of advance one after the other', async () => {
    const clock = virtualClock();
    await Promise.all([clock.advance(10), clock.advance(5)]);
    expect(clock.now()).to.equal(15);
  });

  it('runs timers late after a call of stall', async () => {
    const clock = virtualClock();
    const ran: number[] = [];
    clock.after(10, () => ran.push(clock.now()));
    clock.stall(50);
    expect(ran).to.deep.equal([]);
    await clock.advance(0);
    expect(ran).to.deep.equal([50]);
  });

  it('rejects a call of advance with the error that a timer throws, and can advance again', async () => {
    const clock = virtualClock();
    clock.after(10, () => {
      throw new Error('broken');
    });
    const failed = await clock.advance(20).catch((error: unknown) => (error as Error).message);
    expect(failed).to.equal('broken');
    await clock.advance(20);
    expect(clock.now()).to.equal(30);
  });

  it('refuses an invalid duration for advance and for timers', () => {
    const clock = virtualClock();
    expect(() => clock.advance(Number.NaN)).to.throw('ms is a number of milliseconds from 0 up; got NaN');
    expect(() => clock.advance(-1)).to.throw('got -1');
    expect(() => clock.after(Number.NaN, () => undefined)).to.throw('got NaN');
  });
});
