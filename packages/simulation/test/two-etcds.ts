import type {
  CallOptions,
  Driver,
  IEvent,
  IRangeRequest,
  IRequestOp,
  ITxnRequest,
  IWatchResponse,
} from '../src/product.ts';
import type { Random } from '../src/random.ts';

/** One operation, to which a simulated and a real etcd must respond in the same way. */
export type Operation =
  | { readonly kind: 'range'; readonly request: IRangeRequest }
  | {
      readonly kind: 'put' | 'deleteRange' | 'txn' | 'leaseGrant' | 'leaseRevoke' | 'leaseTimeToLive';
      readonly request: object;
    }
  | { readonly kind: 'keepAlive'; readonly id: string }
  | {
      readonly kind: 'watch';
      readonly id: string;
      readonly key: string;
      readonly end?: string;
      readonly filters: string[];
      readonly from: number;
    }
  | { readonly kind: 'cancel'; readonly id: string }
  | { readonly kind: 'progress' };

const KEYS = ['a', 'a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'c'];
const SPANS: readonly (readonly [string, string?])[] = [
  ['a'],
  ['a/1'],
  ['a/', 'a0'],
  ['b/', 'b0'],
  ['a/2'],
  ['a', 'c'],
  ['\0', '\0'],
];
const LEASES = ['1001', '1002', '1003'];

/**
 * Returns a random sequence of `count` operations. Revisions in them are close to those that the servers will
 * have.
 */
export function operations(random: Random, count: number): Operation[] {
  const made = { watches: 0 };
  return Array.from({ length: count }, (_, i) => operation(random, Math.max(1, Math.floor(i / 2)), made));
}

function operation(random: Random, revision: number, made: { watches: number }): Operation {
  const kind = random.pick([
    'range',
    'range',
    'put',
    'put',
    'put',
    'deleteRange',
    'txn',
    'txn',
    'txn',
    'leaseGrant',
    'leaseRevoke',
    'leaseTimeToLive',
    'keepAlive',
    'watch',
    'cancel',
    'progress',
  ] as const);
  switch (kind) {
    case 'range':
      return { kind, request: range(random, revision) };
    case 'put':
      return { kind, request: put(random) };
    case 'deleteRange':
      return { kind, request: { ...span(random), prev_kv: random.chance(0.5) } };
    case 'txn':
      return { kind, request: txn(random, revision, 1) };
    case 'leaseGrant':
      return { kind, request: { ID: random.pick(LEASES), TTL: random.int(1, 600) } };
    case 'leaseRevoke':
    case 'leaseTimeToLive':
      return { kind, request: { ID: random.pick(LEASES) } };
    case 'keepAlive':
      return { kind, id: random.pick(LEASES) };
    case 'watch': {
      made.watches += 1;
      const [key, end] = random.pick(SPANS);
      const filters = random.pick([[], ['Noput'], ['Nodelete']]);
      const from = random.chance(0.3) ? revision + random.int(-5, 5) : 0;
      return { kind, id: String(made.watches), key, ...(end === undefined ? {} : { end }), filters, from };
    }
    case 'cancel':
      return { kind, id: String(random.int(1, Math.max(1, made.watches))) };
    case 'progress':
      return { kind };
  }
}

function span(random: Random): { key: Buffer; range_end?: Buffer } {
  const [key, end] = random.pick(SPANS);
  return { key: Buffer.from(key), ...(end === undefined ? {} : { range_end: Buffer.from(end) }) };
}

function range(random: Random, revision: number): IRangeRequest {
  const bounds = [
    'min_mod_revision',
    'max_mod_revision',
    'min_create_revision',
    'max_create_revision',
  ] as const;
  return {
    ...span(random),
    ...(random.chance(0.4) ? { limit: random.int(1, 4) } : {}),
    ...(random.chance(0.5)
      ? {
          sort_order: random.pick(['None', 'Ascend', 'Descend'] as const),
          sort_target: random.pick(['Key', 'Version', 'Create', 'Mod', 'Value'] as const),
        }
      : {}),
    ...(random.chance(0.3) ? { [random.pick(bounds)]: revision + random.int(-3, 3) } : {}),
    ...(random.chance(0.2) ? { revision: Math.max(1, revision + random.int(-6, 6)) } : {}),
    keys_only: random.chance(0.3),
    count_only: random.chance(0.1),
    serializable: random.chance(0.2),
  };
}

function put(random: Random): object {
  return {
    key: Buffer.from(random.pick(KEYS)),
    ...(random.chance(0.15) ? { ignore_value: true } : { value: Buffer.from(random.pick(['', 'x', 'yy'])) }),
    ...(random.chance(0.15)
      ? { ignore_lease: true }
      : random.chance(0.5)
        ? { lease: random.pick(LEASES) }
        : {}),
    prev_kv: random.chance(0.3),
  };
}

function txn(random: Random, revision: number, depth: number): ITxnRequest {
  // An etcd server refuses to write a key twice in one transaction.
  const keys = [...KEYS];
  const some = (): IRequestOp[] =>
    Array.from({ length: random.int(0, 3) }, (): IRequestOp => {
      const what = random.pick(['range', 'put', 'delete', 'txn'] as const);
      const [key] = keys.splice(random.int(0, keys.length - 1), 1);
      if (what === 'range' || key === undefined)
        return { request_range: { ...range(random, revision), revision: 0 } };
      if (what === 'put') return { request_put: { ...put(random), key: Buffer.from(key) } };
      if (what === 'delete')
        return { request_delete_range: { key: Buffer.from(key), prev_kv: random.chance(0.3) } };
      return depth > 0
        ? {
            request_txn: { compare: [compare(random, revision)], success: [{ request_range: span(random) }] },
          }
        : { request_range: span(random) };
    });
  const compares = Array.from({ length: random.int(0, 2) }, () => compare(random, revision));
  return { compare: compares, success: some(), failure: some() };
}

function compare(random: Random, revision: number): NonNullable<ITxnRequest['compare']>[number] {
  const result = random.pick(['Equal', 'Greater', 'Less', 'NotEqual'] as const);
  const near = String(Math.max(0, revision + random.int(-4, 2)));
  const common = { ...span(random), result };
  switch (random.pick(['Version', 'Create', 'Mod', 'Value', 'Lease'] as const)) {
    case 'Version':
      return { ...common, target: 'Version', version: String(random.int(0, 3)) };
    case 'Create':
      return { ...common, target: 'Create', create_revision: random.pick(['0', near]) };
    case 'Mod':
      return { ...common, target: 'Mod', mod_revision: random.pick(['0', near]) };
    case 'Value':
      return { ...common, target: 'Value', value: Buffer.from('x') };
    case 'Lease':
      return { ...common, target: 'Lease', lease: random.pick(LEASES) };
  }
}

const CALL: CallOptions = { withinMs: 5_000 };

/** What a server sent during a sequence of operations: the response to each, and the events of each watch. */
export class Transcript {
  readonly answers: unknown[] = [];
  readonly watched: Record<string, unknown[]> = {};
}

/** Waits until all responses and events that the server has sent have arrived. */
export type Settle = () => Promise<void>;

/** Executes the operations on one server, one after another. Returns its responses and events. */
export async function transcribe(
  driver: Driver,
  list: readonly Operation[],
  settle: Settle,
): Promise<Transcript> {
  const transcript = new Transcript();
  let heartbeat: (reply: unknown) => void = () => undefined;
  let created: () => void = () => undefined;
  const note = (response: IWatchResponse): void => {
    const reported = (transcript.watched[response.watch_id] ??= []);
    if (response.events.length > 0) reported.push(...response.events.map(eventText));
    else reported.push(plain({ ...response, events: undefined }));
    if (response.created) created();
  };
  const watching = driver.watch({
    onResponse: note,
    onEnd: (error) => transcript.answers.push(String(error)),
  });
  const heartbeats = driver.keepAlive({ onResponse: (reply) => heartbeat(reply), onEnd: () => undefined });
  for (const one of list) {
    if (one.kind === 'watch') {
      const { id, key, end, filters, from } = one;
      const made = new Promise<void>((resolve) => (created = resolve));
      const range_end = end === undefined ? {} : { range_end: Buffer.from(end) };
      const create = { watch_id: id, key: Buffer.from(key), ...range_end, filters: filters as 'Noput'[] };
      watching.write({ create_request: { ...create, start_revision: String(Math.max(0, from)) } });
      await made;
      // Waits for the events of past revisions, which arrive up to 100 ms after the start of a watch. They
      // arrive in one message if nothing else happens in that time.
      if (from > 0) await settle();
      transcript.answers.push('watches');
    } else if (one.kind === 'cancel') {
      watching.write({ cancel_request: { watch_id: one.id } });
      await settle();
      transcript.answers.push('watches no more');
    } else if (one.kind === 'progress') {
      watching.write({ progress_request: {} });
      await settle();
      transcript.answers.push('asks for progress');
    } else if (one.kind === 'keepAlive') {
      const reply = new Promise((resolve) => (heartbeat = resolve));
      heartbeats.write({ ID: one.id });
      transcript.answers.push(plain(await reply));
    } else {
      const call = driver as unknown as Record<
        string,
        (request: object, options: CallOptions) => Promise<unknown>
      >;
      transcript.answers.push(await call[one.kind]!(one.request, CALL).then(plain, reasonOf));
      // Removes the remaining time of a lease from the response, since that time depends on how fast the test
      // runs.
      const last = transcript.answers.at(-1);
      if (one.kind === 'leaseTimeToLive' && typeof last === 'object' && last !== null && 'TTL' in last)
        last.TTL = Number(last.TTL) < 0 ? 'none' : 'some';
      // For `leaseRevoke`, the driver for the real server reports only that a response has arrived. So the
      // content of the response is not compared.
      if (one.kind === 'leaseRevoke' && typeof last === 'object')
        transcript.answers[transcript.answers.length - 1] = 'revoked';
    }
  }
  await settle();
  heartbeats.close();
  watching.close();
  return transcript;
}

function reasonOf(error: unknown): string {
  return String(error).replace(/^.*?(?=\d+ [A-Z_]+:)/, '');
}

function eventText({ type, kv }: IEvent): string {
  return `${type} ${kv.key.toString()} ${kv.value.toString()} ${kv.create_revision}/${kv.mod_revision}/${kv.version} ${kv.lease}`;
}

/** Removes the fields of a response that identify the cluster or the member. */
function plain(reply: unknown): unknown {
  return JSON.parse(
    JSON.stringify(reply, (name, value: unknown) =>
      ['cluster_id', 'member_id', 'raft_term'].includes(name) ? undefined : value,
    ),
  );
}
