import { createBridge, type Bridge } from '@queuelock/bridge';
import { TOKEN_HEADER, refusalSchema, type BridgeFacts } from '@queuelock/bridge/wire';
import { createLockClient, type LockClient } from '@queuelock/core';
import { memory } from '@queuelock/memory';
import * as v from 'valibot';
import { settles } from '@queuelock/harness/fuzz/settle';
import type { FuzzTarget } from '@queuelock/harness/fuzz/target';

const KEY = { id: 'ab'.repeat(12), secret: 'c'.repeat(32) };
const ENTRY = { key: 'k', order: '7', owner: 'a' };
const ASK = { reason: 'deploy', withinMs: 1_000 };
const STREAM = {
  topics: [
    { topic: { kind: 'queue', name: 'jobs' }, since: 'x' },
    { topic: { kind: 'queues', prefix: '' } },
    { topic: { kind: 'sessions', prefix: 'j' } },
    { topic: { kind: 'join', ...KEY } },
  ],
};
const REQUESTS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['GET', 'facts'],
  ['GET', 'stream?queue=jobs&queues=&sessions=j'],
  ['POST', 'stream', STREAM],
  ['POST', 'token', { name: 'jobs', entry: ENTRY }],
  ['POST', 'evict', { name: 'jobs', entry: ENTRY, reason: 'stuck' }],
  ['POST', 'ask', { name: 'jobs', ...ASK }],
  ['POST', 'contenders', { act: 'freeze', id: 'a' }],
  [
    'POST',
    'joins',
    { name: 'jobs', owner: 'page', metadata: { a: 'b' }, mode: 'shared', timeoutMs: 5, key: KEY },
  ],
  ['POST', 'joins', { name: 'jobs', request: ASK, key: KEY }],
  ['POST', 'joins/touch', { joins: [KEY] }],
  [`POST`, `joins/${KEY.id}/leave`, { secret: KEY.secret }],
  [`POST`, `joins/${KEY.id}/answer`, { secret: KEY.secret, to: 'x', answer: 'decline', reason: 'no' }],
];
const STATUSES = new Set([200, 400, 403, 404, 408, 409, 413, 415, 429, 503]);
const RUNS_OF_ONE_BRIDGE = 300;
const SETTLED_MS = 20_000;

/**
 * Returns the target that fuzzes a bridge's server with requests. The input is the method, path, headers and
 * body of one request.
 */
export async function open(): Promise<FuzzTarget> {
  let stage = await newStage();
  let runs = 0;
  const corpus = REQUESTS.map(([method, path, body]) => ({ method, path: `/v2/${path}`, headers: {}, body }));
  return {
    corpus: corpus.map((request) => Buffer.from(JSON.stringify(request))),
    isJson: true,
    batchSize: 500,
    run: async (input) => {
      runs += 1;
      if (runs % RUNS_OF_ONE_BRIDGE === 0) {
        await stage.close();
        stage = await newStage();
      }
      const request = requestOf(input.toString(), stage);
      if (request) await settles('a response', reply(stage.bridge, request), SETTLED_MS);
    },
    close: () => stage.close(),
  };
}

interface Stage {
  readonly bridge: Bridge;
  readonly token: string;
  readonly close: () => Promise<void>;
}

async function newStage(): Promise<Stage> {
  const client: LockClient = createLockClient(memory(), { owner: 'bridge' });
  const limits = { perClient: { requestsPerSecond: 1e6 } };
  const bridge = createBridge({ client, authorize: () => true, limits });
  const facts = await bridge.handle(new Request(`http://127.0.0.1${bridge.basePath}/v2/facts`));
  const { token } = (await facts.json()) as BridgeFacts;
  const close = async (): Promise<void> => {
    await bridge.close();
    await client.close();
  };
  return { bridge, token, close };
}

/** Returns the request, or `undefined` if the input cannot form a `Request`. */
function requestOf(text: string, { bridge, token }: Stage): Request | undefined {
  const { method, path, headers, body } = partsOf(text);
  try {
    return new Request(`http://127.0.0.1${bridge.basePath}${String(path)}`, {
      method: String(method),
      headers: { 'content-type': 'application/json', [TOKEN_HEADER]: token, ...(headers as object) },
      ...(method !== 'GET' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  } catch {
    return undefined;
  }
}

/**
 * Returns the parts of a request to the bridge from a fuzzer's input. An input that is no JSON object becomes
 * the body of a request for a stream of snapshots.
 */
function partsOf(text: string): Readonly<Record<'method' | 'path' | 'headers' | 'body', unknown>> {
  const defaults = { method: 'POST', path: '/v2/stream', headers: {}, body: text };
  try {
    const parts: unknown = JSON.parse(text);
    return typeof parts === 'object' ? { ...defaults, ...parts } : defaults;
  } catch {
    return defaults;
  }
}

async function reply(bridge: Bridge, request: Request): Promise<void> {
  const response = await bridge.handle(request);
  if (!STATUSES.has(response.status))
    throw new Error(
      `status ${response.status} for ${request.method} ${request.url}: ${await response.text()}`,
    );
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
  } else if (response.status === 200) await response.json();
  else v.parse(refusalSchema, await response.json());
}
