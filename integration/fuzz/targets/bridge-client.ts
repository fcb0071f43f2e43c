import { createBridgeClient, type ClientClock } from '@queuelock/bridge/client';
import { merge } from 'rxjs';
import type { FuzzTarget } from '@queuelock/harness/fuzz/target';

const AT = 1_795_772_444_916;
const LIVE = { at: AT, status: 'live' };
const FACTS = {
  version: 2,
  epoch: 'e',
  token: 't',
  storeLabel: 's',
  may: { evict: true, ask: true, join: true },
};
const ENTRY = {
  key: 'k',
  order: '7',
  owner: 'a',
  id: 'i',
  shared: false,
  metadata: {},
  permits: 1,
  limit: 1,
  holds: [],
  position: 0,
  seenAt: AT,
  heldAt: AT,
  token: '7',
  remainingMs: 5_000,
};
const HELD = {
  at: AT,
  status: 'held',
  id: 'i',
  key: 'k',
  order: '7',
  token: '7',
  remainingMs: 5_000,
  requests: [],
};
const EVENTS: readonly (readonly [type: string, data: unknown])[] = [
  ['hello', { version: 2, epoch: 'e', now: AT, heartbeatMs: 5_000 }],
  [
    'state',
    {
      topic: '["queue","jobs"]',
      snapshot: { ...LIVE, name: 'jobs', entries: [ENTRY], evictions: [], handOffs: 1 },
    },
  ],
  ['state', { topic: '["queues",""]', snapshot: { ...LIVE, prefix: '', queues: [], count: 0 } }],
  [
    'state',
    {
      topic: '["timeline","jobs"]',
      snapshot: { ...LIVE, name: 'jobs', beganAt: AT, spans: [], gaps: [{ from: AT }] },
    },
  ],
  ['state', { topic: '["join","JOIN"]', snapshot: HELD }],
  ['state', { topic: '["join","JOIN"]', snapshot: { at: AT, status: 'ended', outcome: 'lost' } }],
  ['refused', { topic: '["queues",""]', error: { code: 'UNAVAILABLE', message: 'busy', retryable: true } }],
];
const TOUCHED = { joins: [{ id: 'JOIN', keepsMs: 20_000, holds: true, known: true }] };
const JOINED = { id: 'JOIN', secret: 's', graceMs: 20_000 };

/**
 * The responses that a page receives from the bridge, or from a proxy in front of it: their status and
 * headers, and a body for each kind of request.
 */
interface Script {
  readonly status: unknown;
  readonly headers: unknown;
  readonly facts: unknown;
  readonly joined: unknown;
  readonly touched: unknown;
  /** The body of the response to the request for a stream: a list of server-sent events, or any text. */
  readonly events: unknown;
}

const SCRIPT: Script = {
  status: 200,
  headers: {},
  facts: FACTS,
  joined: JOINED,
  touched: TOUCHED,
  events: EVENTS,
};
const PAGE_MS = 30_000;
// Largest number of timers that the bridge's client may start in the 30 s for which a page runs. A client
// that sends heartbeats every few milliseconds would exceed it.
const MAX_TIMERS = 2_000;

/**
 * Returns the target that fuzzes the bridge's client in a page. The input is the bridge's responses. The page
 * watches queues and joins one, during 30 s of a simulated clock.
 */
export function open(): FuzzTarget {
  const refused = {
    ...SCRIPT,
    status: 503,
    facts: { error: { code: 'UNAVAILABLE', message: 'busy', retryable: true } },
  };
  const texts = [SCRIPT, refused, ...EVENTS.map((event) => ({ ...SCRIPT, events: [EVENTS[0], event] }))];
  return {
    corpus: texts.map((script) => Buffer.from(JSON.stringify(script))),
    isJson: true,
    batchSize: 200,
    run,
  };
}

async function run(input: Buffer): Promise<void> {
  const script = scriptIn(input.toString());
  const clock = new PageClock();
  const page = createBridgeClient({ url: 'http://bridge/queuelock', fetch: fetchOf(script), clock });
  const states: unknown[] = [];
  const fail = (error: unknown): void => void states.push(error);
  const failures: unknown[] = [];
  const watched$ = merge(
    page.queue('jobs'),
    page.queues(),
    page.timeline('jobs'),
    page.connection$,
    page.errors$,
  );
  watched$.subscribe({ error: (error: unknown) => failures.push(error) });
  page.join('jobs').subscribe({ next: fail, error: (error: unknown) => failures.push(error) });
  page.tokenOf('jobs', { key: 'k', order: '7' }).catch(() => undefined);
  await clock.pass(PAGE_MS);
  page.close();
  if (failures.length > 0) throw failures[0];
  if (clock.calls > MAX_TIMERS) throw new Error(`${clock.calls} timers in ${PAGE_MS} ms`);
}

function scriptIn(text: string): Script {
  try {
    const script: unknown = JSON.parse(text);
    return typeof script === 'object' ? { ...SCRIPT, ...script } : { ...SCRIPT, events: script };
  } catch {
    return { ...SCRIPT, events: text };
  }
}

function fetchOf(script: Script): typeof fetch {
  return async (input, init) => {
    init?.signal?.throwIfAborted();
    const path = (typeof input === 'string' ? input : '').split('/').at(-1);
    const body = typeof init?.body === 'string' ? init.body : '';
    const id = /"id":"([0-9a-f]{24})"/.exec(body)?.[1] ?? '';
    const text = textOf(path, script).replaceAll('JOIN', id);
    const status =
      Number.isInteger(script.status) && Number(script.status) >= 200 && Number(script.status) <= 599;
    const hasBody = ![204, 205, 304].includes(Number(script.status));
    return new Response(hasBody ? text : null, {
      status: status ? Number(script.status) : 200,
      headers: headersOf(script.headers),
    });
  };
}

function textOf(path: string | undefined, { facts, events, joined, touched }: Script): string {
  if (path === 'stream') return eventsText(events);
  if (path === 'facts') return JSON.stringify(facts);
  return JSON.stringify(path === 'touch' ? touched : joined);
}

function eventsText(events: unknown): string {
  if (!Array.isArray(events)) return JSON.stringify(events);
  return events
    .map((event) => {
      const [type, data] = Array.isArray(event) ? (event as readonly unknown[]) : [undefined, event];
      return `event: ${JSON.stringify(type ?? null).replaceAll('"', '')}\nid: 1\ndata: ${JSON.stringify(data)}\n\n`;
    })
    .join('');
}

function headersOf(headers: unknown): Record<string, string> {
  try {
    return Object.fromEntries(new Headers(headers as Record<string, string>));
  } catch {
    return {};
  }
}

/**
 * A simulated clock that runs timers in order without waiting. After each timer, it lets the event loop run.
 */
class PageClock implements ClientClock {
  calls = 0;
  #now = 0;
  readonly #timers = new Set<{ readonly at: number; readonly task: () => void }>();

  now(): number {
    return this.#now;
  }

  after(ms: number, task: () => void): () => void {
    this.calls += 1;
    // A delay that does not fit into 32 bits counts as 1 ms, as for `setTimeout`.
    const timer = { at: this.#now + (ms >= 1 && ms < 2 ** 31 ? ms : 1), task };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    while (this.calls <= MAX_TIMERS) {
      await turns();
      const [next] = [...this.#timers].sort((a, b) => a.at - b.at);
      if (!next || next.at > end) break;
      this.#timers.delete(next);
      this.#now = next.at;
      next.task();
    }
    await turns();
  }
}

/** Waits three iterations of the event loop, in which the client reads a response. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
