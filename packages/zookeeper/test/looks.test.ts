import { expect } from 'chai';
import { Subject, firstValueFrom, take, toArray } from 'rxjs';
import { lookAgainOn } from '../src/base/looks.ts';

describe('repeated reads', () => {
  it('keep their minimum interval, however often a read is requested, and see the last change', async () => {
    const APART_MS = 8;
    const changes$ = new Subject<number>();
    const begun: number[] = [];
    let present = 0;
    const looking = {
      async look() {
        begun.push(performance.now());
        // Many changes arrive during the read.
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
    // A timer of Node may fire up to one millisecond early.
    for (const [at, time] of begun.entries())
      if (at > 0) expect(time - begun[at - 1]!).to.be.at.least(APART_MS - 1);
  });
});
