import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';

const QUEUES = 2_000;
const VIEWERS = 200;
// Number of periods in which the test measures response times of the bridge. The test uses medians over the
// periods, because other programs on the machine disturb single periods.
const WINDOWS = 5;
const WINDOW_MS = 5_000;
/**
 * Limits the heap of the bridge's process, so that the process crashes if the bridge needs more memory. A
 * larger limit would let V8 collect garbage later, so the measured memory would include more garbage.
 */
const HEAP = '--max-old-space-size=128';

interface Cost {
  readonly rss: number;
  readonly cpuMs: number;
}

interface Touches {
  readonly delays: readonly number[];
  readonly lost: number;
}

describe('the bridge with one hostile client among 200 ordinary ones', function () {
  this.timeout(180_000);
  const processes: ChildProcess[] = [];

  function start(program: URL, args: readonly string[], flags: readonly string[] = []): ChildProcess {
    const execArgv = [...process.execArgv, ...flags];
    const child = fork(program, args, { execArgv });
    processes.push(child);
    return child;
  }
  async function responseOf<T>(child: ChildProcess): Promise<T> {
    child.send('report');
    return first<T>(child);
  }
  async function first<T>(child: ChildProcess): Promise<T> {
    const [message] = (await once(child, 'message')) as [T];
    return message;
  }
  after(async () => {
    for (const child of processes.toReversed()) {
      if (child.connected) child.disconnect();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  });

  it('responds in time to the touches (keep-alive requests) of ordinary clients', async () => {
    const bridge = start(new URL('load/bridge-process.ts', import.meta.url), [String(QUEUES)], [HEAP]);
    const { url, rss: atStart } = await first<Cost & { readonly url: string }>(bridge);
    const viewers = start(new URL('load/ordinary-process.ts', import.meta.url), [url, String(VIEWERS)]);
    await first(viewers);
    const before = await windows(viewers);
    const ordinary = await responseOf<Cost>(bridge);
    const hostile = start(new URL('load/hostile-process.ts', import.meta.url), [url]);
    await first(hostile);
    const attacked = await responseOf<Cost>(bridge);
    const began = performance.now();
    const during = await windows(viewers);
    const { rss, cpuMs } = await responseOf<Cost>(bridge);
    const cores = (cpuMs - attacked.cpuMs) / (performance.now() - began);
    const statuses = await responseOf<readonly (readonly [number, number])[]>(hostile);
    console.log(`      touches without it: ${shown(before)}`);
    console.log(`      touches with it: ${shown(during)}`);
    console.log(
      `      memory of the process (RSS, highest): ${megabytes(atStart)} at its start, ${megabytes(ordinary.rss)} with 200 viewers, ${megabytes(rss)} in all`,
    );
    console.log(`      processor time of the bridge with it: ${cores.toFixed(2)} of a core`);
    console.log(`      answers to the hostile one, by status: ${JSON.stringify(statuses)}`);
    // A touch is a page's request that keeps its joins. The limit for its duration depends on the durations
    // before the attack, because a busy machine responds slowly even without an attack.
    expect(during.p99, 'touches, in milliseconds').to.be.below(Math.max(250, 3 * before.p99));
    expect(during.lost, 'places of pages').to.equal(0);
    expect((rss - atStart) / 2 ** 20, 'growth of the memory, in megabytes').to.be.below(200);
  });

  /**
   * Measures the response times to touches in several periods. Returns the median over the periods of each
   * statistic, and the total number of lost joins.
   */
  async function windows(viewers: ChildProcess): Promise<Percentiles & { readonly lost: number }> {
    const measured: Percentiles[] = [];
    let lost = 0;
    await responseOf<Touches>(viewers);
    for (let window = 0; window < WINDOWS; window += 1) {
      await passed(WINDOW_MS);
      const touches = await responseOf<Touches>(viewers);
      measured.push(percentiles(touches.delays));
      lost += touches.lost;
    }
    const medianOf = (which: keyof Percentiles): number =>
      measured.map((window) => window[which]).toSorted((a, b) => a - b)[Math.floor(WINDOWS / 2)] ?? NaN;
    return { p50: medianOf('p50'), p99: medianOf('p99'), most: medianOf('most'), lost };
  }
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
