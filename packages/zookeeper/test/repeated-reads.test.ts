import { expect } from 'chai';
import { Subject, firstValueFrom, take, toArray } from 'rxjs';
import { readAgainOn } from '../src/base/repeated-reads.ts';

describe('repeated reads', () => {
  it('start at least the minimum interval apart, and the last one includes the last change', async () => {
    const MIN_INTERVAL_MS = 8;
    const changes$ = new Subject<number>();
    const startedAt: number[] = [];
    let present = 0;
    const options = {
      async read() {
        startedAt.push(performance.now());
        // Many changes are reported while a read is running.
        for (let at = 0; at < 5; at += 1) changes$.next((present += startedAt.length < 4 ? 1 : 0));
        return present;
      },
      repeatAfterMs: () => 60_000,
      minIntervalMs: MIN_INTERVAL_MS,
    };
    const seen = await firstValueFrom(readAgainOn(changes$, options).pipe(take(4), toArray()), {
      defaultValue: [],
    });
    expect(seen).to.deep.equal([5, 10, 15, 15]);
    // A timer of Node may fire up to one millisecond early.
    for (const [at, time] of startedAt.entries())
      if (at > 0) expect(time - startedAt[at - 1]!).to.be.at.least(MIN_INTERVAL_MS - 1);
  });
});
