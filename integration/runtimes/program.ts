// Runs the conformance suite on another runtime. It is one file with all its imports, except for queuelock's
// packages. These are installed beside it as they are published.
import { facts, type BackendHarness, type Fact } from '@queuelock/conformance';
import { isQueueLockError, type Backend } from '@queuelock/core/backend';
import type * as Memory from '@queuelock/memory';
// eslint-disable-next-line no-restricted-imports -- this is a test file, which no package exports
import { SeverableBackends } from '../../packages/zookeeper/test/severable-backends.ts';
import { JOB_VARIABLE, type Job, type Line, type Order } from './job.ts';

/**
 * Number of tests that run at the same time. It is larger than one, because the tests mostly wait for a
 * server.
 */
const LANES = 4;

/** Time limit in milliseconds for opening the first session. */
const FIRST_SESSION_MS = 30_000;

type Store = Pick<BackendHarness, 'connect' | 'evict' | 'entries' | 'crash'>;

const job = JSON.parse(process.env[JOB_VARIABLE] ?? '') as Job;

function print(line: Line): void {
  console.log(JSON.stringify(line));
}

async function order<T = unknown>(body: Order): Promise<T> {
  const response = await fetch(job.operator, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${body.type}: ${await response.text()}`);
  return (await response.json()) as T;
}

async function storeOf({ store, options, proxied }: Job): Promise<Store> {
  const exported = (await import(`@queuelock/${store}`)) as Record<string, (options: object) => Backend>;
  if (options === undefined) return inProcess(exported as never);
  const evictAndEntries = {
    evict: async (key: string) => {
      await order({ type: 'evict', key });
    },
    entries: (queue: string) => order<readonly unknown[]>({ type: 'entries', queue }),
  };
  if (proxied === undefined) return { connect: async () => exported[store]!(options), ...evictAndEntries };
  const backends = new SeverableBackends({
    send: ({ order: what, endpoint }) => order<string>({ type: 'proxy', order: what, endpoint }),
    stop: () => undefined,
  });
  return {
    connect: () => backends.connect(proxied, options),
    crash: (session) => backends.crash(session),
    ...evictAndEntries,
  };
}

function inProcess({ createMemoryServer, memory }: typeof Memory): Store {
  const server = createMemoryServer();
  return {
    connect: async () => memory({ server }),
    evict: async (key) => void server.evict(key),
    entries: async (queue) => server.queues().get(queue) ?? [],
  };
}

/**
 * Opens the first session, with retries: the first connection also loads the client library, which may take
 * longer than a timeout on a busy machine.
 */
async function firstSession(backend: Backend): Promise<void> {
  const giveUpAt = performance.now() + FIRST_SESSION_MS;
  for (;;) {
    try {
      await (await backend.open(job.ttlMs, new AbortController().signal)).close();
      return;
    } catch (error) {
      const mayRetry = isQueueLockError(error) && error.retryable && performance.now() < giveUpAt;
      if (!mayRetry) throw error;
    }
  }
}

/**
 * Opens a session. Returns whether the backend rejects this runtime because it cannot work there, and prints
 * the error.
 */
async function isRefused({ connect }: Store): Promise<boolean> {
  const backend = await connect();
  try {
    await firstSession(backend);
    return false;
  } catch (error) {
    if (!isQueueLockError(error)) throw error;
    const { code, retryable, message } = error;
    print({ refusal: { code, retryable, message } });
    return true;
  } finally {
    await backend.close();
  }
}

async function check(fact: Fact, harness: BackendHarness): Promise<void> {
  const failure = await fact.check(harness).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
  );
  print({ outcome: { title: fact.title, ...(failure === undefined ? {} : { failure }) } });
}

async function main(): Promise<void> {
  const store = await storeOf(job);
  if (await isRefused(store)) return;
  const { ttlMs, expiryGranularityMs, only } = job;
  const harness: BackendHarness = {
    ...{ name: job.store, ttlMs, expiryGranularityMs, ...store },
    traces: true,
    together: true,
    sharing: true,
    eviction: true,
    registers: true,
    resumption: true,
    queues: true,
  };
  const waiting = facts.filter(({ title }) => only?.includes(title) ?? true);
  const lane = async (): Promise<void> => {
    for (let fact = waiting.shift(); fact !== undefined; fact = waiting.shift()) await check(fact, harness);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

await main();
