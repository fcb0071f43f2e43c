/** The form of Consul's key/value and session API, as far as this package uses it. */

/** A key as Consul returns it. */
export interface KvPair {
  readonly key: string;
  readonly text: string;
  readonly session: string | undefined;
  readonly createIndex: bigint;
  readonly modifyIndex: bigint;
  readonly flags: number;
}

/** One operation of a transaction. Indexes are at most 2^53 - 1, as everywhere in Consul's JSON. */
export type KvOperation =
  | {
      readonly verb: 'lock' | 'unlock';
      readonly key: string;
      readonly text: string;
      readonly session: string;
      readonly flags?: number | bigint;
    }
  | {
      readonly verb: 'cas';
      readonly key: string;
      readonly text: string;
      readonly index: bigint;
      readonly flags: number;
    }
  | { readonly verb: 'set'; readonly key: string; readonly text: string }
  | { readonly verb: 'check-session'; readonly key: string; readonly session: string }
  | { readonly verb: 'check-index' | 'delete-cas'; readonly key: string; readonly index: bigint }
  | { readonly verb: 'delete' | 'get-tree' | 'check-not-exists'; readonly key: string };

/** The flags by which Consul's own clients recognize the key of a lock. More than a JavaScript number holds, so it is written as text. */
export const LOCK_FLAGS = 0x2ddccbc058a50c18n;

/** Maximum number of operations of one transaction, in every release of Consul. */
export const MAX_OPERATIONS = 64;

/** The result of a transaction: the keys that it returned, or the operation at which it was rolled back. */
export type TxnResult =
  | { readonly isDone: true; readonly pairs: readonly KvPair[] }
  | { readonly isDone: false; readonly failedAt: number; readonly why: string };

/** Returns the body of a request for a transaction. */
export function txnBody(operations: readonly KvOperation[]): string {
  const body = JSON.stringify(operations.map((operation) => ({ KV: bodyOf(operation) })));
  // Only flags can have this form: texts are in base64, and a quote within a string is escaped.
  return body.replaceAll(/"Flags":"(\d+)"/g, '"Flags":$1');
}

function bodyOf(operation: KvOperation): object {
  return {
    Verb: operation.verb,
    Key: operation.key,
    ...('text' in operation && { Value: Buffer.from(operation.text).toString('base64') }),
    ...('session' in operation && { Session: operation.session }),
    ...('index' in operation && { Index: Number(operation.index) }),
    ...('flags' in operation && {
      Flags: typeof operation.flags === 'bigint' ? String(operation.flags) : operation.flags,
    }),
  };
}

interface WirePair {
  readonly Key: string;
  readonly Value: string | null;
  readonly Session?: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly Flags: number;
}

interface WireTxn {
  readonly Results: readonly { readonly KV?: WirePair }[] | null;
  readonly Errors: readonly { readonly OpIndex: number; readonly What: string }[] | null;
}

/** Returns the result in the response to a transaction. */
export function txnResult(body: string): TxnResult {
  const { Results, Errors } = JSON.parse(body) as WireTxn;
  const [error] = Errors ?? [];
  if (error) return { isDone: false, failedAt: error.OpIndex, why: error.What };
  return { isDone: true, pairs: (Results ?? []).flatMap(({ KV }) => (KV ? [pairOf(KV)] : [])) };
}

/** Returns the keys in the response to a read. */
export function pairsIn(body: string): readonly KvPair[] {
  return (JSON.parse(body) as readonly WirePair[]).map(pairOf);
}

function pairOf({ Key, Value, Session, CreateIndex, ModifyIndex, Flags }: WirePair): KvPair {
  return {
    key: Key,
    text: Value === null ? '' : Buffer.from(Value, 'base64').toString(),
    session: Session === '' ? undefined : Session,
    createIndex: BigInt(CreateIndex),
    modifyIndex: BigInt(ModifyIndex),
    flags: Flags,
  };
}

/** Returns the path of a key in the HTTP API. */
export function keyPath(key: string): string {
  return `/v1/kv/${key.split('/').map(encodeURIComponent).join('/')}`;
}
