/**
 * Parsers for the JSON of Consul's API. A response is not trusted, because a proxy or another kind of server may have written it. Each parser throws
 * a `TypeError` or `SyntaxError` when the text does not have the expected form.
 */

/** A key of Consul's key/value store, as the API returns it. */
export interface KvPair {
  readonly key: string;
  readonly text: string;
  readonly session: string | undefined;
  readonly createIndex: bigint;
  readonly modifyIndex: bigint;
  readonly flags: number;
}

/**
 * The result of a transaction. If it was done: the keys that it returned. If it was rolled back: the number of the operation that failed, from 0, and
 * the reason.
 */
export type TxnResult =
  | { readonly isDone: true; readonly pairs: readonly KvPair[] }
  | { readonly isDone: false; readonly failedAt: number; readonly why: string };

/** Parses the response to a transaction, and returns its result. */
export function txnResult(body: string): TxnResult {
  const { Results, Errors } = membersOf(JSON.parse(body));
  const [error] = listOf(Errors ?? []);
  if (error === undefined) {
    const results = listOf(Results ?? []).map((result) => membersOf(result)['KV']);
    return { isDone: true, pairs: results.filter((pair) => pair !== undefined).map(pairOf) };
  }
  const { OpIndex, What } = membersOf(error);
  return { isDone: false, failedAt: Number(indexOf(OpIndex)), why: textOf(What) };
}

/** Parses the response to a read, and returns the keys. */
export function pairsIn(body: string): readonly KvPair[] {
  return listOf(JSON.parse(body)).map(pairOf);
}

const SESSION_ID = /^[\da-f-]{1,64}$/;

/**
 * Parses the response to the creation of a session, and returns the session's id. The id becomes part of URL paths, so it may contain only the
 * characters of Consul's ids.
 */
export function sessionIdIn(body: string): string {
  const id = textOf(membersOf(JSON.parse(body))['ID']);
  if (!SESSION_ID.test(id)) throw new TypeError('no session id');
  return id;
}

/** Parses a list of sessions, and returns their names. */
export function sessionNamesIn(body: string): readonly string[] {
  return listOf(JSON.parse(body)).map((session) => textOf(membersOf(session)['Name']));
}

/** Parses a list of servers, and returns their addresses. */
export function serversIn(body: string): readonly string[] {
  return listOf(JSON.parse(body)).map(textOf);
}

/** Parses the address of the leader. Returns an empty text when the cluster has no leader. */
export function leaderIn(body: string): string {
  return textOf(JSON.parse(body));
}

/** Parses what an agent reports about itself. `minTtl` is `undefined` when the agent does not report it. */
export function agentIn(body: string): {
  readonly version: string;
  readonly isServer: boolean;
  readonly minTtl: unknown;
} {
  const { Config, DebugConfig } = membersOf(JSON.parse(body));
  const { Version, Server } = membersOf(Config);
  const minTtl = DebugConfig === undefined ? undefined : membersOf(DebugConfig)['SessionTTLMin'];
  return { version: textOf(Version), isServer: Server === true, minTtl };
}

function pairOf(pair: unknown): KvPair {
  const { Key, Value, Session = '', CreateIndex, ModifyIndex, Flags } = membersOf(pair);
  const session = textOf(Session);
  return {
    key: textOf(Key),
    text: Value === null ? '' : Buffer.from(textOf(Value), 'base64').toString(),
    session: session === '' ? undefined : session,
    createIndex: indexOf(CreateIndex),
    modifyIndex: indexOf(ModifyIndex),
    flags: numberOf(Flags),
  };
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new TypeError('no object');
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError('no list');
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError('no text');
}

function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  throw new TypeError('no number');
}

function indexOf(value: unknown): bigint {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return BigInt(Number(value));
  throw new TypeError('no index');
}
