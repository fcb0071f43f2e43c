import { percentile } from '../../src/stats.ts';
import type { Contender, Lock, RawStore, Release } from './contender.ts';
import { cpuUs, nowUs, sayAndWait, type Parameters } from './protocol.ts';

// Number of warm-up queues, the same as in the Java program that measures hand-offs. Code that is not
// compiled yet takes twice as long.
const WARM_LINES = 10;
const WARM_WAITERS = 300;
// Largest number of enqueues in flight. With more, the measurement would include how a library queues its own
// requests.
const ENQUEUE_AT_A_TIME = 64;

/**
 * Enqueues `n` waiters behind a holder. Then the holder releases, and each waiter releases as soon as it is
 * granted. The waiters belong to `sessions` sessions in turn (1 by default). First it does the same with
 * `warm` warm-up queues, which are not measured.
 */
export async function drain(lock: Lock, parameters: Parameters): Promise<object> {
  const name = parameters.text('name');
  const sessions = parameters.number('sessions', 1);
  const contenders = await Promise.all(Array.from({ length: sessions }, () => lock.open()));
  for (let i = 0; i < parameters.number('warm', WARM_LINES); i += 1)
    await pass(lock, contenders, { name: `${name}-warm`, n: WARM_WAITERS });
  const result = await pass(lock, contenders, { name, n: parameters.number('n'), telling: true });
  await Promise.all(contenders.map((contender) => contender.close()));
  return result;
}

/**
 * A queue of the scenario `drain`: its name, and its number `n` of waiters. If `telling` is set, the program
 * reports its progress to the harness and waits for a line before it continues.
 */
interface Passing {
  readonly name: string;
  readonly n: number;
  readonly telling?: true;
}

async function pass(
  lock: Lock,
  contenders: readonly Contender[],
  { name, n, telling }: Passing,
): Promise<object> {
  const hold = await contenders[0]?.acquire(name);
  if (!hold) throw new Error('drain needs a session');
  const handOffs = new HandOffs(n);
  if (telling) await sayAndWait({ connected: true });
  const enqueueAt = nowUs();
  for (let i = 1; i <= n; i += 1)
    void contenders[i % contenders.length]?.acquire(name).then((release) => handOffs.next(release));
  await lock.untilWatching?.(n);
  const enqueueMs = (nowUs() - enqueueAt) / 1_000;
  if (telling) await sayAndWait({ ready: true });
  const result = await handOffs.run(hold);
  if (telling) await sayAndWait({ ready: true, drained: true });
  return { ...result, enqueueMs };
}

/** Measures for each hand-off the time from the release until the next holder is notified. */
class HandOffs {
  readonly #times: number[] = [];
  readonly #waiters: number;
  readonly #releases: Promise<unknown>[] = [];
  #over: () => void = () => undefined;
  #releasedAt = 0;

  constructor(waiters: number) {
    this.#waiters = waiters;
  }

  async run(first: Release): Promise<object> {
    const over = new Promise<void>((resolve) => (this.#over = resolve));
    const begunAt = nowUs();
    const cpu = cpuUs();
    this.#release(first);
    await over;
    const totalMs = (nowUs() - begunAt) / 1_000;
    const clientCpu = (cpuUs() - cpu) / this.#waiters;
    await Promise.all(this.#releases);
    const times = this.#times;
    return { p50: percentile(times, 0.5), p99: percentile(times, 0.99), totalMs, clientCpu };
  }

  next(release: Release): void {
    this.#times.push(nowUs() - this.#releasedAt);
    this.#release(release);
    if (this.#times.length === this.#waiters) this.#over();
  }

  #release(release: Release): void {
    this.#releasedAt = nowUs();
    this.#releases.push(release());
  }
}

/**
 * Measures the lower bound of hand-offs with raw calls: the program creates a row of keys, and deletes each
 * key when it is notified of the deletion of the key before it.
 */
export async function chain(store: RawStore, parameters: Parameters): Promise<object> {
  const n = parameters.number('n');
  const name = parameters.text('name');
  for (let i = 0; i < WARM_LINES; i += 1) await link(store, { name: `${name}-warm-${i}`, n: WARM_WAITERS });
  const result = await link(store, { name, n, telling: true });
  await store.close();
  return result;
}

async function link(store: RawStore, { name, n, telling }: Passing): Promise<object> {
  const handOffs = new HandOffs(n);
  const key = (i: number): string => `${name}-${i}`;
  if (telling) await sayAndWait({ connected: true });
  const enqueueAt = nowUs();
  for (let from = 0; from <= n; from += ENQUEUE_AT_A_TIME) {
    const some = Array.from({ length: Math.min(ENQUEUE_AT_A_TIME, n + 1 - from) }, (_, i) => from + i);
    await Promise.all(some.map((i) => store.create(key(i))));
    const watched = some.filter((i) => i < n);
    await Promise.all(
      watched.map((i) => store.watchDeletion(key(i), () => handOffs.next(() => store.remove(key(i + 1))))),
    );
  }
  const enqueueMs = (nowUs() - enqueueAt) / 1_000;
  if (telling) await sayAndWait({ ready: true });
  const result = await handOffs.run(() => store.remove(key(0)));
  if (telling) await sayAndWait({ ready: true, drained: true });
  return { ...result, enqueueMs };
}
