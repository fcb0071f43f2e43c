import { WireLink, closeSession, multi, nodeRequests, type Dial, type WireRequest } from '../src/product.ts';
import type { Random } from '../src/random.ts';

/** One request, to which a simulated and a real ZooKeeper must respond in the same way. */
type Operation =
  | { readonly kind: 'create' | 'create2'; readonly path: string; readonly mode: Mode }
  | { readonly kind: 'delete' | 'set' | 'check'; readonly path: string; readonly version: number }
  | {
      readonly kind: 'exists' | 'read' | 'children' | 'list';
      readonly path: string;
      readonly watch: boolean;
    }
  | { readonly kind: 'sync' }
  | { readonly kind: 'multi'; readonly steps: readonly Operation[] };

type Mode = Exclude<keyof typeof nodeRequests.CreateFlag, 'persistent-with-ttl'>;

/**
 * Requests that one of the two clients of a server sends together. An empty list means that this client ends
 * its session and opens another.
 */
export interface Group {
  readonly by: 0 | 1;
  readonly operations: readonly Operation[];
}

const ROOT = '/two';
const PATHS = ['/a', '/a/b', '/a/b/c', '/d', '/d/e-', '/d/e-0000000001', '/f', '/f/g'];
const MODES: readonly Mode[] = [
  'persistent',
  'ephemeral',
  'ephemeral',
  'ephemeral-sequential',
  'ephemeral-sequential',
  'persistent-sequential',
  'container',
];
const CHANGES = ['create', 'create', 'create2', 'delete', 'set'] as const;
const KINDS = [
  ...CHANGES,
  'create',
  'delete',
  'exists',
  'read',
  'children',
  'list',
  'sync',
  'multi',
] as const;
const SESSION_ENDS = 0.03;
const MAX_AT_ONCE = 4;

/** Returns a random sequence of at least `count` requests, in groups whose requests are sent together. */
export function groups(random: Random, count: number): Group[] {
  const made: Group[] = [];
  for (let left = count; left > 0;) {
    const size = random.chance(SESSION_ENDS) ? 0 : random.int(1, MAX_AT_ONCE);
    const operations = Array.from({ length: size }, () => operation(random, random.pick(KINDS)));
    made.push({ by: random.chance(0.5) ? 0 : 1, operations });
    left -= Math.max(1, size);
  }
  return made;
}

function operation(random: Random, kind: Operation['kind']): Operation {
  const path = ROOT + random.pick(PATHS);
  const version = random.chance(0.6) ? -1 : random.int(0, 3);
  if (kind === 'sync') return { kind };
  if (kind === 'create' || kind === 'create2') {
    const mode = random.pick(MODES);
    return { kind, path, mode: kind === 'create2' && mode === 'container' ? 'ephemeral' : mode };
  }
  if (kind === 'delete' || kind === 'set' || kind === 'check') return { kind, path, version };
  if (kind !== 'multi') return { kind, path, watch: random.chance(0.6) };
  const steps = Array.from({ length: random.int(1, 3) }, () => {
    const step = operation(random, random.pick(['create', 'delete', 'set', 'check'] as const));
    return step.kind === 'create' && step.mode === 'container'
      ? { ...step, mode: 'persistent' as const }
      : step;
  });
  return { kind, steps };
}

/** All responses and events that the two clients of a server received. */
export type Transcript = readonly unknown[];

/** A client of the simulated or of the real server, which records the events that it receives. */
interface Client {
  readonly link: WireLink;
  readonly session: bigint;
  readonly events: string[];
}

const SESSION_MS = 10_000;

/**
 * Sends the groups of requests with two clients, and records what they receive. Replaces each transaction id
 * by its rank among all ids, and each session id by a small number, so that two servers can be compared.
 */
export async function transcribe(dial: Dial, address: string, list: readonly Group[]): Promise<Transcript> {
  const clients = [await open(dial, address), await open(dial, address)];
  const sessions = new Map(clients.map(({ session }, i) => [session, `session ${i}`]));
  const output: unknown[] = [];
  await clear(clients[0]!, ROOT);
  await sendRequest(clients[0]!, nodeRequests.create({ path: ROOT, data: Buffer.alloc(0), flags: 0 }));
  for (const { by, operations } of list) {
    const client = clients[by]!;
    const other = clients[1 - by]!;
    if (operations.length === 0) {
      const response = await sendRequest(client, closeSession());
      await client.link.closed;
      clients[by] = await open(dial, address);
      sessions.set(clients[by].session, `session ${sessions.size}`);
      // When a session ends, a server removes its nodes in any order. So the events of the removals are
      // sorted.
      await seen(other);
      output.push(['ends', response.code, taken(client).sort(), taken(other).sort()]);
      continue;
    }
    const responses = await Promise.all(
      operations.map((one) => sendRequest(client, requestOf(one) as WireRequest<unknown>)),
    );
    const zxid = client.link.lastZxid;
    await seen(other);
    output.push([
      ...responses.map(({ code, value }) => [code, shown(value)]),
      { zxid },
      taken(client),
      taken(other),
    ]);
  }
  for (const client of clients) {
    await sendRequest(client, closeSession());
    await client.link.closed;
  }
  return plain(output, sessions);
}

async function open(dial: Dial, address: string): Promise<Client> {
  const events: string[] = [];
  return new Promise((resolve, reject) => {
    const hello = { lastZxid: 0n, timeoutMs: SESSION_MS, session: undefined };
    const clock = { now: () => performance.now(), after: () => () => undefined };
    const link: WireLink = new WireLink(
      { dial, address, tls: undefined, hello, withinMs: SESSION_MS, clock },
      {
        welcomed: ({ session }) => resolve({ link, events, session: session.id }),
        changed: ({ path, change }) => events.push(`${change} ${path}`),
        refused: (code) => reject(new Error(`refused with ${code}`)),
        lost: reject,
      },
    );
  });
}

function sendRequest<T>(
  { link }: Client,
  request: WireRequest<T>,
): Promise<{ readonly code: number; readonly value?: T }> {
  return new Promise((resolve) =>
    link.ask(request, (code, value) => resolve(value === undefined ? { code } : { code, value })),
  );
}

/** Reads the root node and waits for the response. All earlier events arrive before that response. */
async function seen(client: Client): Promise<void> {
  await sendRequest(client, nodeRequests.exists('/', false));
}

function taken({ events }: Client): string[] {
  return events.splice(0);
}

async function clear(client: Client, path: string): Promise<void> {
  const { value = [] } = await sendRequest(client, nodeRequests.getChildren(path, false));
  for (const name of value) await clear(client, `${path}/${name}`);
  await sendRequest(client, nodeRequests.remove(path, -1));
}

const DATA = Buffer.from('data');

function requestOf(one: Operation): unknown {
  switch (one.kind) {
    case 'create':
      return nodeRequests.create(nodeOf(one));
    case 'create2':
      return nodeRequests.create2(nodeOf(one));
    case 'delete':
      return nodeRequests.remove(one.path, one.version);
    case 'set':
      return nodeRequests.setData(one.path, DATA, one.version);
    case 'exists':
      return nodeRequests.exists(one.path, one.watch);
    case 'read':
      return nodeRequests.getData(one.path, one.watch);
    case 'children':
      return nodeRequests.getChildren(one.path, one.watch);
    case 'list':
      return nodeRequests.getChildren2(one.path, one.watch);
    case 'multi':
      return multi(one.steps.map(stepOf));
    case 'sync':
      return nodeRequests.sync('/');
    case 'check':
      throw new Error('it is a step of several');
  }
}

function nodeOf({
  path,
  mode,
}: Extract<Operation, { mode: Mode }>): Parameters<typeof nodeRequests.create>[0] {
  return { path, data: Buffer.from(path), flags: nodeRequests.CreateFlag[mode] };
}

function stepOf(one: Operation): Parameters<typeof multi>[0][number] {
  if (one.kind === 'create') return { type: 'create', node: nodeOf(one) };
  if (one.kind === 'set') return { type: 'setData', path: one.path, data: DATA, version: one.version };
  if (one.kind === 'delete' || one.kind === 'check')
    return { type: one.kind, path: one.path, version: one.version };
  throw new Error(`${one.kind} is no step`);
}

/** Removes times from a value and sorts its lists, so that two servers can be compared. */
function shown(value: unknown): unknown {
  if (Array.isArray(value))
    return value.every((one) => typeof one === 'string') ? [...value].sort() : value.map(shown);
  if (Buffer.isBuffer(value)) return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  const reports = Object.entries(value).filter(([name]) => !TIMES.has(name));
  return Object.fromEntries(reports.map(([name, one]) => [name, shown(one)]));
}

const TIMES: ReadonlySet<string> = new Set(['ctime', 'mtime']);
const ZXIDS: ReadonlySet<string> = new Set(['czxid', 'mzxid', 'pzxid', 'zxid']);

function plain(output: readonly unknown[], sessions: ReadonlyMap<bigint, string>): Transcript {
  const found = new Set<bigint>();
  walk(output, (name, value) => {
    if (ZXIDS.has(name)) found.add(value);
    return value;
  });
  const order = new Map([...found].sort((one, other) => Number(one - other)).map((zxid, i) => [zxid, i]));
  return walk(output, (name, value) =>
    ZXIDS.has(name) ? order.get(value) : (sessions.get(value) ?? value.toString()),
  ) as Transcript;
}

function walk(value: unknown, of: (name: string, value: bigint) => unknown, name = ''): unknown {
  if (typeof value === 'bigint') return of(name, value);
  if (Array.isArray(value)) return value.map((one: unknown) => walk(one, of));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one, of, key)]));
}
