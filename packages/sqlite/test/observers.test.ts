import { expect } from 'chai';
import { sqlite } from '@queuelock/sqlite';
import { until } from '@queuelock/harness/services/until';
import { Bench } from './bench.ts';

const signal = new AbortController().signal;

describe('an observer of a SQLite file', function () {
  this.timeout(30_000);

  const bench = new Bench();
  const backend = sqlite({ file: bench.file });

  after(async () => {
    await backend.close();
    await bench.close();
  });

  it('emits a change that its own process made, at the end of the interval of the option apartMs', async () => {
    // The TTL is so long that no heartbeat writes to the file during the test.
    const session = await backend.open(60_000, signal);
    const seen: string[][] = [];
    const reading = backend
      .observe('q', { apartMs: 250 })
      .subscribe((entries) => seen.push(entries.map(({ key }) => key)));
    const sees = (...states: readonly (readonly string[])[]): Promise<unknown> =>
      until(async () => expect(seen).to.deep.equal(states), { what: 'the last change', withinMs: 20_000 });
    await sees([]);
    const { key } = await session.enqueue({ queue: 'q', id: 'i', shared: false, limit: 1 });
    await sees([], [key]);
    reading.unsubscribe();
    await session.close();
  });
});
