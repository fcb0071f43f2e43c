import { expect } from 'chai';
import type { Ears } from '../src/server/ears.ts';
import { watchOn } from '../src/turn/lookers.ts';

/** Time that is moved by hand. */
function standingClock() {
  let now = 0;
  const timers = new Map<() => void, number>();
  return {
    now: () => now,
    after(ms: number, task: () => void): () => void {
      timers.set(task, now + ms);
      return () => void timers.delete(task);
    },
    /** What the looks that it sets off come to is there afterwards. */
    async advance(ms: number): Promise<void> {
      now += ms;
      for (const [task, at] of timers) if (at <= now && timers.delete(task)) task();
      await Promise.resolve();
      await Promise.resolve();
    },
  };
}

describe('looking at a queue', () => {
  it('is done so long after the last look at the earliest, however often the queue changes, and sees the last change', async () => {
    const clock = standingClock();
    let change = (): void => undefined;
    const ears = {
      listen(_channel: string, { onMessage }: { readonly onMessage: (changed: string) => void }) {
        change = () => onMessage('q');
        change();
        return () => undefined;
      },
      up: async () => undefined,
    } as unknown as Ears;
    const begun: number[] = [];
    const seen: number[] = [];
    let present = 0;
    const read = async (): Promise<number> => (begun.push(clock.now()), present);
    const looked = { queue: 'q', read, pauseMs: 250 };
    const looking = watchOn(ears, { clock, channel: 'c' }, looked).subscribe((value) => seen.push(value));
    await clock.advance(0);
    for (present = 1; present < 10; present += 1) {
      change();
      await clock.advance(100);
    }
    change();
    await clock.advance(250);
    looking.unsubscribe();
    expect(begun).to.deep.equal([0, 300, 600, 900, 1150]);
    expect(seen).to.deep.equal([0, 3, 6, 9, 10]);
  });
});
