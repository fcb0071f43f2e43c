import { expect } from 'chai';
import { Subject, firstValueFrom, take, toArray } from 'rxjs';
import { lookAgainOn } from '../src/base/looks.ts';

describe('looking again', () => {
  it('begins a look so long after the last one at the earliest, however often it is asked to, and sees the last change', async () => {
    const APART_MS = 8;
    const changes$ = new Subject<number>();
    const begun: number[] = [];
    let present = 0;
    const looking = {
      async look() {
        begun.push(performance.now());
        // A herd of changes while it looks.
        for (let at = 0; at < 5; at += 1) changes$.next((present += begun.length < 4 ? 1 : 0));
        return present;
      },
      again: () => 60_000,
      apartMs: APART_MS,
    };
    const seen = await firstValueFrom(lookAgainOn(changes$, looking).pipe(take(4), toArray()), {
      defaultValue: [],
    });
    expect(seen).to.deep.equal([5, 10, 15, 15]);
    // A timer of Node may be early by less than one millisecond.
    for (const [at, time] of begun.entries())
      if (at > 0) expect(time - begun[at - 1]!).to.be.at.least(APART_MS - 1);
  });
});
