import { expect } from 'chai';
import { startProxy } from '../src/faults.ts';
import { Caller, Echo } from './faults/echo.ts';
import { medianOf } from '../src/median.ts';

const TIMES = 5;

describe('a TCP proxy', () => {
  it('limits the rate of the data', async () => {
    const echo = new Echo();
    await using proxy = await startProxy(await echo.start());
    const caller = new Caller(proxy.endpoint);
    proxy.toServer.limit(100_000);
    const tookMs: number[] = [];
    for (let time = 0; time < TIMES; time += 1) {
      const start = performance.now();
      await caller.echo(`${'x'.repeat(30_000)}${time}`);
      tookMs.push(performance.now() - start);
    }
    expect(Math.min(...tookMs)).to.be.at.least(250);
    expect(medianOf(tookMs)).to.be.at.most(3_000);
    caller.socket.destroy();
    await echo.stop();
  });
});
