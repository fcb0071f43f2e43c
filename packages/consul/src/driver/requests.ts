/** The parts of Consul's key/value and session API that this package uses. */

/** One operation of a transaction. In Consul's JSON, the index of a key is at most 2^53 - 1. */
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

/**
 * Flags that mark a key as a lock of Consul's own clients. The value exceeds the integers that a JavaScript number can represent, so it is a bigint.
 */
export const LOCK_FLAGS = 0x2ddccbc058a50c18n;

/** Maximum number of operations in one transaction, the same in all versions of Consul. */
export const MAX_OPERATIONS = 64;

/** Returns the body of a request for a transaction. */
export function txnBody(operations: readonly KvOperation[]): string {
  const body = JSON.stringify(operations.map((operation) => ({ KV: bodyOf(operation) })));
  // Converts flags from strings to JSON numbers. Nothing else in the body matches the regular expression: values are in base64, and JSON escapes a
  // quote within a string.
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

/** Returns the path of a key in the HTTP API. */
export function keyPath(key: string): string {
  return `/v1/kv/${key.split('/').map(encodeURIComponent).join('/')}`;
}
