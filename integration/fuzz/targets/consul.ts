import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isQueueLockError, type Backend } from '@queuelock/core/backend';
import { consul } from '@queuelock/consul';
import RECORDED from './consul.json' with { type: 'json' };
import { settles } from '@queuelock/harness/fuzz/settle';
import type { FuzzTarget } from '@queuelock/harness/fuzz/target';

/** A response of a Consul agent. */
interface Reply {
  readonly status: number;
  readonly index: string | null;
  /** The body. A string is sent as it is, and any other value as JSON. */
  readonly body: unknown;
}

const OPENED: Reply = { status: 200, index: null, body: { ID: '8b7bd47a-33c3-d0de-38e8-d796801f3418' } };
const SPEC = { queue: 'jobs', id: 'ab'.repeat(16), shared: false, limit: 1, value: 'me' };
const SETTLED_MS = 10_000;
const OBSERVED_MS = 5;

/**
 * Returns the target that fuzzes the Consul backend. The input is the responses of Consul's HTTP API. The
 * backend opens a session, enters a queue, sends a heartbeat, observes the queue and leaves.
 */
export async function open(): Promise<FuzzTarget> {
  let replies: readonly Reply[] = [];
  let at = 0;
  const server = createServer((request, response) => {
    request.resume();
    const { status, index, body } = replies[at++ % replies.length] ?? OPENED;
    const isStatus = Number.isInteger(status) && status >= 200 && status <= 599;
    const isHeader = typeof index === 'string' && /^[\x20-\x7e]*$/.test(index);
    response.writeHead(isStatus ? status : 500, isHeader ? { 'x-consul-index': index } : {});
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const each = RECORDED.map((reply) => [OPENED, reply]);
  return {
    corpus: [RECORDED, ...each].map((list) => Buffer.from(JSON.stringify(list))),
    isJson: true,
    batchSize: 100,
    run: async (input) => {
      replies = repliesIn(input.toString());
      at = 0;
      const backend = consul({ hosts: host, requestTimeoutMs: 500 });
      try {
        await settles('a session', use(backend), SETTLED_MS);
      } finally {
        await backend.close();
      }
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Returns the responses in an input. An input that is no JSON list becomes the body of every response. */
function repliesIn(text: string): readonly Reply[] {
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list)) return list.map((reply) => ({ ...OPENED, ...(reply as object | null) }));
  } catch {
    // The input is no JSON: its text becomes the body of every response.
  }
  return [OPENED, { status: 200, index: '5', body: text }];
}

async function use(backend: Backend): Promise<void> {
  const { signal } = new AbortController();
  const isPossible = (error: unknown): void => {
    if (!isQueueLockError(error)) throw error;
  };
  const observed = backend.observe(SPEC.queue).subscribe({ error: () => undefined });
  const session = await backend.open(10_000, signal).catch(isPossible);
  if (session) {
    await session.enqueue(SPEC).catch(isPossible);
    await session.renew(signal).catch(isPossible);
    await session.remove(SPEC.queue, SPEC.id).catch(isPossible);
  }
  await backend.diagnose?.('').catch(isPossible);
  await backend.registers?.read(SPEC.queue, 'evictions').catch(isPossible);
  await new Promise((resolve) => setTimeout(resolve, OBSERVED_MS));
  observed.unsubscribe();
  await session?.close();
}
