import { once, type EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { zkFourLetter } from './four-letter.ts';

/** Minimal client that shows whether a server responds and stores data, without queuelock. */
export interface PlainClient {
  put(endpoint: string, value: string): Promise<void>;
  get(endpoint: string): Promise<string>;
  /** Sends a read to the server at the endpoint; resolves with the response. */
  ask(endpoint: string): Promise<unknown>;
}

const KEY = Buffer.from('plain').toString('base64');
const NODE = '/plain';

/** A plain client of etcd, over its JSON gateway. */
export const plainEtcd: PlainClient = {
  async put(endpoint, value) {
    await callGateway(endpoint, 'kv/put', { key: KEY, value: Buffer.from(value).toString('base64') });
  },
  async get(endpoint) {
    const { kvs } = (await callGateway(endpoint, 'kv/range', { key: KEY })) as { kvs?: { value: string }[] };
    return Buffer.from(kvs?.[0]?.value ?? '', 'base64').toString();
  },
  ask: (endpoint) => callGateway(endpoint, 'kv/range', { key: KEY }),
};

/** Sends one request to etcd's JSON gateway: bytes are base64, 64-bit numbers are strings. */
export async function callGateway(endpoint: string, call: string, body: object): Promise<unknown> {
  const response = await fetch(`http://${endpoint}/v3/${call}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`etcd on ${endpoint} answers ${String(response.status)} to ${call}`);
  return response.json();
}

/** A client of ZooKeeper that uses the package `zookeeper` from npm without queuelock. Each call has a session of
 * its own. */
export const plainZooKeeper: PlainClient = {
  async put(endpoint, value) {
    await withSession(endpoint, (session, done) => session.a_create(NODE, value, 0, done));
  },
  async get(endpoint) {
    const [, data] = await withSession(endpoint, (session, done) => session.a_get(NODE, false, done));
    return String(data);
  },
  ask: (endpoint) => zkFourLetter(endpoint, 'ruok'),
};

export type Done = (code: number, text: string, ...values: unknown[]) => void;

/**
 * The part of the npm package `zookeeper` that is used here. The package's own type declarations are not used,
 * because they reference further packages.
 */
export interface Session extends EventEmitter {
  init(config: { connect: string; timeout: number; debug_level: number }): void;
  close(): void;
  a_create(path: string, data: string, flags: number, done: Done): number;
  a_get(path: string, watch: boolean, done: Done): number;
  a_get_children(path: string, watch: boolean, done: Done): number;
  a_delete_(path: string, version: number, done: Done): number;
  a_set_acl(path: string, version: number, acl: readonly Permission[], done: Done): number;
}

/** Access control entry: `perms` 31 is everything, `auth` is `user:digest` with the scheme `digest`. */
interface Permission {
  readonly perms: number;
  readonly scheme: string;
  readonly auth: string;
}

const Session = createRequire(import.meta.url)('zookeeper') as new () => Session;

/** Sends one request to ZooKeeper in a session of its own. Resolves with the response, and rejects with the text of the result code. */
export async function withSession(
  endpoint: string,
  call: (session: Session, done: Done) => number,
): Promise<unknown[]> {
  const session = new Session();
  const connected = once(session, 'connect');
  session.init({ connect: endpoint, timeout: 5_000, debug_level: 0 });
  await connected;
  try {
    return await new Promise<unknown[]>((resolve, reject) => {
      const sent = call(session, (code, text, ...rest) => {
        // Settles outside of the package's callback, because the package aborts the process when its client handle is closed inside a callback.
        setImmediate(() => (code === 0 ? resolve(rest) : reject(new Error(`ZooKeeper answers ${text}`))));
      });
      if (sent !== 0) reject(new Error(`the ZooKeeper client refuses the call (${String(sent)})`));
    });
  } finally {
    session.close();
  }
}
