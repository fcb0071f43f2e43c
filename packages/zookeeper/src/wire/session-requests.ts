import type { JuteWriter } from './jute-write.ts';
import { OpCode } from './op-code.ts';
import { nothing, requestOf, type WireRequest } from './request.ts';

/** Paths with a watch, by the request that set the watch. */
export interface Watched {
  readonly data: readonly string[];
  readonly exist: readonly string[];
  readonly child: readonly string[];
}

type Kind = keyof Watched;

// The maximum total size of the paths in one request. Other clients of ZooKeeper use the same limit. A server
// drops the connection of a request above a megabyte.
const MAX_PATH_BYTES = 128 * 1024;

/** A ping, which keeps the session alive. Its number is `Xid.ping`. */
export function ping(): WireRequest<undefined> {
  return requestOf({ type: OpCode.ping, answer: nothing });
}

/**
 * Encodes the request that authenticates a client by credentials. The number of the request is `Xid.auth`. If the scheme is unknown, the server
 * closes the connection, and the session continues.
 */
export function addAuth(scheme: string, auth: Uint8Array): WireRequest<undefined> {
  const body = (writer: JuteWriter): unknown => writer.int(0).text(scheme).buffer(auth);
  return requestOf({ type: OpCode.auth, body, answer: nothing });
}

/** Ends the session and removes its ephemeral nodes. The server closes the connection after the reply. */
export function closeSession(): WireRequest<undefined> {
  return requestOf({ type: OpCode.closeSession, answer: nothing });
}

/**
 * Encodes requests that set the watches of an earlier connection again. If a watched node has changed after the transaction `since`, the
 * server reports that at once. The paths are split into several requests, each below the size limit of a server. All these requests have
 * the same request number, `Xid.setWatches`.
 */
export function setWatches(since: bigint, watched: Watched): WireRequest<undefined>[] {
  return portions(watched).map((portion) =>
    requestOf({
      type: OpCode.setWatches,
      body: (writer) =>
        writer
          .long(since)
          .list(portion.data, putText)
          .list(portion.exist, putText)
          .list(portion.child, putText),
      answer: nothing,
    }),
  );
}

function portions(watched: Watched): Watched[] {
  const portions: Record<Kind, string[]>[] = [];
  let room = 0;
  for (const kind of ['data', 'exist', 'child'] as const) {
    for (const path of watched[kind]) {
      const bytes = Buffer.byteLength(path);
      if (bytes > room) {
        portions.push({ data: [], exist: [], child: [] });
        room = MAX_PATH_BYTES;
      }
      room -= bytes;
      portions.at(-1)?.[kind].push(path);
    }
  }
  return portions;
}

function putText(writer: JuteWriter, text: string): void {
  writer.text(text);
}
