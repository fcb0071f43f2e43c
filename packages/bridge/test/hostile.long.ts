import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';

const QUEUES = 2_000;
const VIEWERS = 200;
const MEASURED_MS = Number(process.env['QUEUELOCK_HOSTILE_MS'] ?? 20_000);

interface Cost {
  readonly rss: number;
}

interface Touches {
  readonly delays: readonly number[];
  readonly lost: number;
  readonly pictures: number;
}

describe('one hostile viewer among 200 others, over 2,000 queues', function () {
  this.timeout(120_000 + MEASURED_MS);
  const processes: ChildProcess[] = [];

  function start(name: string, ...args: readonly string[]): ChildProcess {
    const child = fork(new URL(`load/${name}.ts`, import.meta.url), args);
    processes.push(child);
    return child;
  }
  async function answerOf<T>(child: ChildProcess): Promise<T> {
    child.send('report');
    return first<T>(child);
  }
  async function first<T>(child: ChildProcess): Promise<T> {
    const [message] = (await once(child, 'message')) as [T];
    return message;
  }
  after(async () => {
    for (const child of processes.toReversed()) {
      child.disconnect();
      await once(child, 'exit');
    }
  });

  it('takes neither their touches nor the memory of the bridge', async () => {
    const bridge = start('bridge-process', String(QUEUES));
    const { url, rss: atStart } = await first<Cost & { readonly url: string }>(bridge);
    const viewers = start('ordinary-process', url, String(VIEWERS));
    await first(viewers);
    await passed(MEASURED_MS / 4);
    const before = percentiles((await answerOf<Touches>(viewers)).delays);
    const { rss: ordinary } = await answerOf<Cost>(bridge);
    const hostile = start('hostile-process', url);
    await first(hostile);
    await passed(MEASURED_MS);
    const { delays, lost, pictures } = await answerOf<Touches>(viewers);
    const statuses = await answerOf<readonly (readonly [number, number])[]>(hostile);
    const { rss } = await answerOf<Cost>(bridge);
    const during = percentiles(delays);
    console.log(
      `      touches without it: ${shown(before)}; with it: ${shown(during)}, of ${String(delays.length)}`,
    );
    console.log(
      `      memory of the process (RSS, highest): ${megabytes(atStart)} at its start, ${megabytes(ordinary)} with 200 viewers, ${megabytes(rss)} in all`,
    );
    console.log(
      `      pictures for the 200: ${String(pictures)}; answers to the hostile one by status: ${JSON.stringify(statuses)}`,
    );
    expect(during.p99, 'touches, in milliseconds').to.be.below(250);
    expect(lost, 'places of pages').to.equal(0);
    expect(rss / 2 ** 20, 'megabytes').to.be.below(200);
  });
});

interface Percentiles {
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
}

function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.floor((sorted.length - 1) * part)] ?? NaN;
  return { p50: at(0.5), p99: at(0.99), most: at(1) };
}

function shown({ p50, p99, most }: Percentiles): string {
  return `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, longest ${most.toFixed(0)} ms`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MB`;
}

function passed(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
