import { createLockClient, type LockClient } from '@queuelock/core';
import { createMemoryServer, memory, type MemoryEntry, type MemoryServer } from '@queuelock/memory';
import { expect } from 'chai';
import fc from 'fast-check';
import { EMPTY } from 'rxjs';
import { createBridge, type Action, type Bridge, type Contenders } from '../src/index.ts';
import { TOKEN_HEADER, type BridgeFacts, type FaultsSnapshot } from '../src/wire.ts';
import { programAt, seen, stage, Tab } from './stage.ts';

const ORIGIN = 'http://localhost/queuelock/v2';
const NAMES = ['red/1', 'blue/1'] as const;
const PREFIXES = ['', 'red/', 'blue/'] as const;
const NAMED = ['evict', 'ask', 'join'] as const;
const LISTS = ['queues', 'sessions', 'deadlocks', 'faults'] as const;
const QUEUES = ['queue', 'timeline', 'record', 'election'] as const;
/**
 * Maximum number of chunks of the response that the test reads from a stream. If the bridge refuses the
 * stream's topic, one of these chunks contains the refusal.
 */
const READ_EVENTS = 3;

/** Converts an action to a text, by which a test selects the action to refuse. */
function textOf(action: Action): string {
  if (action.kind === 'facts') return 'facts';
  if (action.kind !== 'watch') return `${action.kind} ${action.name ?? '*'}`;
  const { topic } = action;
  return `look ${topic.kind} ${'name' in topic ? topic.name : topic.prefix}`;
}

/** Every action that a request of this test can need. */
const ACTIONS: readonly Action[] = [
  { kind: 'facts' },
  { kind: 'contend', name: NAMES[0] },
  ...NAMED.flatMap((kind) => [{ kind }, ...NAMES.map((name) => ({ kind, name }))]),
  ...QUEUES.flatMap((kind) => NAMES.map((name) => ({ kind: 'watch', topic: { kind, name } }) as const)),
  ...LISTS.flatMap((kind) => PREFIXES.map((prefix) => ({ kind: 'watch', topic: { kind, prefix } }) as const)),
];

interface Attempt {
  readonly path: string;
  readonly method: 'GET' | 'POST';
  /**
   * Body of the request. The test replaces the text `LATEST` in it by the entry of the visitor that joined
   * the queue last.
   */
  readonly body?: unknown;
  /** Actions that the request needs. If one of them is refused, the request must be refused. */
  readonly needs: readonly string[];
  /**
   * Prefix of the queue names that the response may contain. If it is left out, the response must contain no
   * queue name.
   */
  readonly shows?: string;
}

/**
 * Placeholder in a request body. The test replaces it by the entry of the visitor that joined the queue last.
 */
const LATEST = { latest: true };
const handover = { reason: 'urgent', withinMs: 1 };
const name = fc.constantFrom(...NAMES);
const KEPT = { kept: 'yes' };

/** Id and secret of a join that the bridge does not have. */
const KEY = { id: '0'.repeat(24), secret: 'x'.repeat(32) };
const OF_A_JOIN = [
  ['joins/touch', { joins: [KEY] }],
  [`joins/${KEY.id}/leave`, { secret: KEY.secret }],
  [`joins/${KEY.id}/answer`, { secret: KEY.secret, to: 'e', answer: 'yield' }],
  ['stream', { topics: [{ topic: { kind: 'join', ...KEY } }] }],
] as const;

const attempts: fc.Arbitrary<Attempt> = fc.oneof(
  fc.constant<Attempt>({ path: 'facts', method: 'GET', needs: ['facts'] }),
  name.map((name): Attempt => ({
    ...{ path: 'token', method: 'POST', body: { name, entry: { key: 'k', order: '1' } } },
    ...{ needs: [`look queue ${name}`], shows: name },
  })),
  name.map((name): Attempt => ({
    ...{ path: 'evict', method: 'POST', body: { name, entry: LATEST, reason: 'r' } },
    ...{ needs: ['evict *', `evict ${name}`] },
  })),
  name.map((name): Attempt => ({
    ...{ path: 'ask', method: 'POST', body: { name, ...handover } },
    ...{ needs: ['ask *', `ask ${name}`] },
  })),
  fc.tuple(name, fc.boolean()).map(([name, asks]): Attempt => ({
    ...{
      path: 'joins',
      method: 'POST',
      body: { name, metadata: KEPT, ...(asks ? { request: handover } : {}) },
    },
    ...{ needs: ['join *', `join ${name}`, ...(asks ? [`ask ${name}`] : [])] },
  })),
  fc.constant<Attempt>({
    ...{ path: 'contenders', method: 'POST', body: { act: 'add' }, needs: [`contend ${NAMES[0]}`] },
  }),
  fc.constantFrom(...OF_A_JOIN).map(([path, body]): Attempt => ({ path, method: 'POST', body, needs: [] })),
  fc.tuple(fc.constantFrom(...QUEUES), name, fc.boolean()).map(([kind, name, posts]): Attempt => ({
    ...stream({ kind, name }, `${kind}=${name}`, posts),
    ...{ needs: [`look ${kind} ${name}`], shows: name },
  })),
  fc
    .tuple(fc.constantFrom(...LISTS), fc.constantFrom(...PREFIXES), fc.boolean())
    .map(([kind, prefix, posts]): Attempt => ({
      ...stream({ kind, prefix }, `${kind}=${prefix}`, posts),
      ...{ needs: [`look ${kind} ${prefix}`], shows: prefix },
    })),
);

function stream(topic: object, query: string, posts: boolean): Pick<Attempt, 'path' | 'method' | 'body'> {
  return posts
    ? { path: 'stream', method: 'POST', body: { topics: [{ topic }] } }
    : { path: `stream?${query}`, method: 'GET' };
}

const entryOfNone = { key: 'no such key', order: '1', owner: 'o' };

function isKept({ value }: MemoryEntry): boolean {
  return value.includes('"kept"');
}

describe('authorization of requests to the bridge', () => {
  let server: MemoryServer;
  let client: LockClient;
  let bridge: Bridge;
  let refused: ReadonlySet<string>;
  let token: string;
  let contended: number;

  const send = ({ path, method, body }: Attempt): Promise<Response> => {
    const headers = { 'content-type': 'application/json', [TOKEN_HEADER]: token };
    const text = JSON.stringify(body, (_, value: unknown) => (value === LATEST ? latestIn(body) : value));
    const sent = method === 'POST' ? { method, headers, body: text } : { method };
    return bridge.handle(new Request(`${ORIGIN}/${path}`, sent));
  };
  const latestIn = (body: unknown): object => {
    const { name } = body as { readonly name: string };
    const [latest] = (server.queues().get(name) ?? []).filter(isKept).slice(-1);
    return latest ? { key: latest.key, order: String(latest.order), owner: 'browser' } : entryOfNone;
  };
  const keys = (which: (entry: MemoryEntry) => boolean = () => true): readonly string[] =>
    [...server.queues().values()].flatMap((entries) => entries.filter(which).map(({ key }) => key));

  beforeEach(async () => {
    server = createMemoryServer();
    client = createLockClient(memory({ server }));
    refused = new Set();
    const authorize = (_: Request, action: Action): boolean => !refused.has(textOf(action));
    // The grace is longer than the test, so that the bridge ends no join by itself.
    const times = { lingerMs: 0, paceMs: 0, graceMs: 600_000 };
    contended = 0;
    const contenders: Contenders = {
      name: NAMES[0],
      changed$: EMPTY,
      draw: () => ({ maxContenders: 1, ttlMs: 1, cut: '', canCut: false, contenders: [], happenings: [] }),
      act: async () => void (contended += 1),
    };
    bridge = createBridge({ client, authorize, times, contenders, clientOf: () => undefined });
    for (const name of NAMES) {
      await client.acquire(name, { owner: `holder of ${name}` });
      // Opens a stream that watches the queue, so that the bridge sees an eviction in it.
      const watching = await send({ path: `stream?queue=${name}`, method: 'GET', needs: [] });
      const victim = client.claim(name, { owner: `victim in ${name}` }).subscribe({ error: () => undefined });
      const seenQueue = await seen(client.watch(name), ({ entries }) => entries.length === 2);
      await client.evict(name, seenQueue.entries[1]!, { reason: `secret of ${name}` });
      await textUntil(watching, /secret of/);
      victim.unsubscribe();
    }
    const facts = await send({ path: 'facts', method: 'GET', needs: [] });
    ({ token } = (await facts.json()) as BridgeFacts);
  });
  afterEach(async () => {
    await bridge.close();
    await client.close();
  });

  it('lets no refused request change an entry or show a queue', async () => {
    const policies = fc.uniqueArray(fc.constantFrom(...ACTIONS.map(textOf)), { minLength: 1, maxLength: 30 });
    const property = fc.asyncProperty(policies, attempts, async (policy, attempt) => {
      refused = new Set(policy);
      const [before, kept, acts] = [keys(), keys(isKept), contended];
      const response = await send(attempt);
      const isRefused = attempt.needs.some((need) => refused.has(need));
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
      const text = isStream ? await beginningOf(response) : await response.text();
      if (isRefused) {
        expect(text).to.include('ACCESS_DENIED');
        expect(before, 'nothing is added').to.include.members(keys());
        expect(keys(isKept), 'nothing is removed').to.include.members(kept);
        expect(contended, 'no contender is disturbed').to.equal(acts);
      } else expect(text).to.not.include('ACCESS_DENIED');
      for (const name of NAMES) {
        const isCovered = attempt.shows !== undefined && name.startsWith(attempt.shows);
        if (isRefused || !isCovered)
          for (const shown of [`holder of ${name}`, `victim in ${name}`, `secret of ${name}`])
            expect(text, 'shows nothing').to.not.include(shown);
      }
    });
    await fc.assert(property, { numRuns: 150 });
  }).timeout(60_000);

  it('refuses the request when authorize returns neither true nor an identity', async () => {
    for (const ruling of [undefined, null, 1, 'yes', {}, { name: 7 }]) {
      const careless = createBridge({ client, authorize: () => ruling as never });
      const response = await careless.handle(new Request(`${ORIGIN}/facts`));
      expect(response.status, JSON.stringify(ruling)).to.equal(403);
      await careless.close();
    }
  });

  it('refuses a request without reading its body when authorize refuses the action for all queue names', async () => {
    for (const kind of NAMED) {
      refused = new Set([`${kind} *`]);
      let pulls = 0;
      const body = new ReadableStream<Uint8Array>(
        {
          pull: () => {
            pulls += 1;
          },
        },
        { highWaterMark: 0 },
      );
      const path = kind === 'join' ? 'joins' : kind;
      const headers = { 'content-type': 'application/json', [TOKEN_HEADER]: token };
      const init = { method: 'POST', headers, body, duplex: 'half' } as const;
      const response = await bridge.handle(new Request(`${ORIGIN}/${path}`, init));
      expect([response.status, pulls], kind).to.deep.equal([403, 0]);
    }
  });
});

describe('a join with a handover request', () => {
  it('is refused when authorize refuses the action `ask`, and leaves no entry', async () => {
    const authorize = (_: Request, { kind }: Action): boolean => kind !== 'ask';
    await using s = await stage({ authorize });
    await s.other('program').acquire('doc');
    const { post } = await programAt(s.url);
    const response = await post('joins', { name: 'doc', request: { reason: 'now', withinMs: 1_000 } });
    expect([response.status, s.server.entryCount]).to.deep.equal([403, 1]);
    expect((await post('joins', { name: 'doc' })).status).to.equal(200);
  });

  it('is refused with status 400 when the holder would have more than a minute to respond', async () => {
    await using s = await stage();
    const { post } = await programAt(s.url);
    const response = await post('joins', { name: 'doc', request: { reason: 'now', withinMs: 60_001 } });
    expect([response.status, s.server.entryCount]).to.deep.equal([400, 0]);
  });

  it('counts in the quota of handover requests until the holder responds to the request', async () => {
    await using s = await stage({ limits: { asks: 1 } });
    const holder = new Tab(s.page().join('doc'));
    await holder.until('held');
    const { post } = await programAt(s.url);
    const request = { reason: 'now', withinMs: 60_000 };
    expect((await post('joins', { name: 'doc', request })).status).to.equal(200);
    const { lock } = await holder.until('held', ({ lock: { requests } }) => requests.length === 1);
    expect((await post('joins', { name: 'doc', request })).status, 'join').to.equal(503);
    expect((await post('ask', { name: 'doc', ...request })).status, 'ask').to.equal(503);
    expect(s.server.entryCount).to.equal(2);
    await lock.answer(lock.requests[0]!.from, 'decline', 'no');
    const again = new Tab(s.page().join('doc', { request }));
    await again.until('queued');
    for (const tab of [again, holder]) tab.close();
  });
});

describe('the topic `faults` with a prefix', () => {
  it('shows only evictions of queues with that prefix', async () => {
    await using s = await stage();
    const page = s.page();
    const reads = NAMES.map((name) => page.queue(name).subscribe());
    for (const name of NAMES) {
      await s.other(`owner of ${name}`).acquire(name);
      const { snapshot } = await seen(page.queue(name), ({ snapshot }) => snapshot?.entries.length === 1);
      await page.evict(name, snapshot!.entries[0]!, { reason: `secret of ${name}` });
      await seen(page.queue(name), ({ snapshot }) => snapshot?.evictions.length === 1);
    }
    const aboutOf = async (prefix: string): Promise<readonly string[]> => {
      const isKnown = ({ snapshot }: { snapshot?: FaultsSnapshot | undefined }): boolean =>
        (snapshot?.faults.length ?? 0) > 0;
      return (await seen(s.page().faults(prefix), isKnown)).snapshot!.faults.map(({ about }) => about);
    };
    expect(await aboutOf('red/')).to.deep.equal(['red/1']);
    expect(await aboutOf('blue/')).to.deep.equal(['blue/1']);
    expect(await aboutOf('')).to.deep.equal([...NAMES]);
    for (const readState of reads) readState.unsubscribe();
  });
});

/** Returns the text of a stream up to its first snapshot or refusal, and then closes the stream. */
async function beginningOf(response: Response): Promise<string> {
  const reader = response.body!.getReader();
  let text = '';
  for (
    let events = 0;
    events < READ_EVENTS && !text.includes('event: refused') && !text.includes('event: state');
  ) {
    text += new TextDecoder().decode((await reader.read()).value as Uint8Array);
    events += 1;
  }
  await reader.cancel();
  return text;
}

async function textUntil(response: Response, pattern: RegExp): Promise<void> {
  const reader = response.body!.getReader();
  let text = '';
  while (!pattern.test(text)) text += new TextDecoder().decode((await reader.read()).value as Uint8Array);
  await reader.cancel();
}
