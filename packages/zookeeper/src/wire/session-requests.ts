import type { JuteWriter } from './jute-write.ts';
import { OpCode } from './op-code.ts';
import { nothing, requestOf, type WireRequest } from './request.ts';

/** Nodes with a watch, by what the watch was asked for with. */
export interface Watched {
  readonly data: readonly string[];
  readonly exist: readonly string[];
  readonly child: readonly string[];
}

type Kind = keyof Watched;

// The server drops a connection for a request of a megabyte; as much as other clients send at once.
const MAX_PATH_BYTES = 128 * 1024;

/** Says that the client is there. Its number is `Xid.ping`. */
export function ping(): WireRequest<undefined> {
  return requestOf({ type: OpCode.ping, answer: nothing });
}

/** Its number is `Xid.auth`. The server closes the connection after a scheme that it does not know, and ends no session. */
export function addAuth(scheme: string, auth: Uint8Array): WireRequest<undefined> {
  const body = (writer: JuteWriter): unknown => writer.int(0).text(scheme).buffer(auth);
  return requestOf({ type: OpCode.auth, body, answer: nothing });
}

/** Ends the session, and its ephemeral nodes. The server closes the connection after the answer. */
export function closeSession(): WireRequest<undefined> {
  return requestOf({ type: OpCode.closeSession, answer: nothing });
}

/**
 * Watches of an earlier connection, set again: events tell at once what has changed since the transaction `since`. As
 * many requests as keep each of them well below what the server takes. Their number is `Xid.setWatches`.
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
