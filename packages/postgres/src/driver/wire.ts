import { closing } from '@queuelock/core/backend';
import type { Wire, WireEvents } from './driver.ts';
import type { PgQueryable } from './pool-like.ts';
import { REPLY_TYPES } from './replies.ts';

/** Wraps an open connection of npm pg. Releases the connection if adding the listeners fails. */
export function wireOf(client: PgQueryable, events: WireEvents, release: (broken: boolean) => void): Wire {
  let isOver = false;
  const onEnd = (error?: unknown): void => {
    if (!isOver) events.onEnd(error ?? new Error('the server closed the connection'));
  };
  const listeners = [
    ['notification', notificationTo({ ...events, onEnd })],
    ['error', onEnd],
    ['end', onEnd],
  ] as const;
  const statements = new Statements(client);
  const give = (broken: boolean): void => {
    try {
      release(broken);
    } catch (error) {
      // If the pool's release() throws, the pool has not taken the connection back and does not listen to its
      // errors. So a listener stays on the connection, because an error event without a listener would end
      // the process.
      if (!broken) client.on('error', () => undefined);
      throw error;
    }
  };
  const close = closing((broken: boolean) => {
    if (isOver) return;
    isOver = true;
    statements.end();
    try {
      for (const [event, listener] of listeners) client.removeListener(event, listener);
      // A broken connection keeps a listener, because a later error event without one would end the process.
      if (broken) client.on('error', () => undefined);
    } finally {
      give(broken);
    }
  }, events.onEnd);
  try {
    for (const [event, listener] of listeners) client.on(event, listener);
  } catch (error) {
    close(true);
    throw error;
  }
  return { query: (text, values) => statements.ask(text, values), release: close };
}

/** Sends one statement at a time, because npm pg has deprecated concurrent statements on one connection. */
class Statements {
  readonly #client: PgQueryable;
  #last: Promise<unknown> = Promise.resolve();
  #isOver = false;

  constructor(client: PgQueryable) {
    this.#client = client;
  }

  async ask(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]> {
    const response = this.#last.then(() => {
      // Rejects a statement that waited for an earlier one, if the connection was returned to the pool
      // meanwhile. The application may be using the connection.
      if (this.#isOver) throw new Error('the connection was returned to its pool');
      return this.#client.query({ text, ...(values && { values: [...values] }), types: REPLY_TYPES });
    });
    this.#last = response.catch(() => undefined);
    return rowsOf(await response, values === undefined);
  }

  /** Rejects all statements that wait for an earlier one on this connection. */
  end(): void {
    this.#isOver = true;
  }
}

/**
 * Returns the rows of a result of npm pg. A text of several statements has a list of results.
 * @throws {Error} when the value is no result of npm pg
 */
function rowsOf(result: unknown, maySeveral: boolean): readonly Record<string, unknown>[] {
  if (Array.isArray(result) && maySeveral) return [];
  const rows: unknown =
    typeof result === 'object' && result !== null && 'rows' in result ? result.rows : result;
  if (Array.isArray(rows) && rows !== result) return rows as Record<string, unknown>[];
  throw new Error('the client library returned something else than a result with rows');
}

function notificationTo({
  onMessage,
  onEnd,
}: Pick<WireEvents, 'onMessage' | 'onEnd'>): (notification: unknown) => void {
  return (notification) => {
    const { channel, payload } = (notification ?? {}) as {
      readonly channel?: unknown;
      readonly payload?: unknown;
    };
    if (typeof channel === 'string') onMessage(channel, typeof payload === 'string' ? payload : '');
    else onEnd(new Error('the client delivered a notification without a channel'));
  };
}
