import { expect } from 'chai';
import type { Contender } from '../contender.ts';
import { fact, type Fact } from '../fact.ts';
import type { Stage } from '../stage.ts';

function evictionFact(
  title: string,
  play: (stage: Stage, line: readonly [Contender, Contender, Contender]) => Promise<void>,
): Fact {
  const played = async (stage: Stage): Promise<void> => {
    const [a, b, c] = await stage.threeClients();
    const line = [await a.enter(), await b.enter(), await c.enter()] as const;
    await line[0].untilAdmitted();
    await play(stage, line);
  };
  return fact(title, played, ['evict']);
}

/** Facts about entries that an operator removes from the store without the backend. */
export const evictionFacts: readonly Fact[] = [
  evictionFact(
    'a holder whose entry an operator removes is notified, and the next waiter is admitted',
    async (stage, line) => {
      const [holder, next] = line;
      await stage.evict(holder);
      expect(await holder.untilLost()).to.equal('ENTRY_LOST');
      await next.untilAdmitted();
      expect(await holder.leave()).to.equal(false);
    },
  ),

  evictionFact(
    'a waiter whose entry an operator removes is notified, and the waiters behind it move up',
    async (stage, line) => {
      const [holder, waiter, last] = line;
      await stage.evict(waiter);
      expect(await waiter.untilLost()).to.equal('ENTRY_LOST');
      await holder.leave();
      await last.untilAdmitted();
    },
  ),
];
