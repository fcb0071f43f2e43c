// Folder "views": reads queues, registers and the server for observers and operators.
// views.ts (this file) reads entries in order. registers.ts reads and writes registers. diagnose.ts checks the server.

import type { FoundQueue, Register, StoredEntry, StoredHistory } from '@queuelock/core/backend';
import type { Connection } from '../session/connection.ts';
import { keyOf } from '../queue/names.ts';
import { storedText, textOf } from '../queue/text.ts';

interface Seen {
  readonly endsInMs: number | null;
  readonly entries: readonly { readonly ord: number; readonly shared: boolean; readonly value: string }[];
  readonly registers: Readonly<Record<string, { readonly version: string; readonly content: string }>>;
}

/**
 * Returns the entries of a queue in order. The read also enables notifications of changes of that queue for
 * one minute.
 */
export async function entriesOf(connection: Connection, queue: string): Promise<readonly StoredEntry[]> {
  const { entries } = await seen(connection, queue);
  return entries.map(({ ord, shared, value }) => ({
    key: keyOf(queue, ord),
    order: BigInt(ord),
    shared,
    value: textOf(value),
  }));
}

/** Returns a register of a queue. The read also enables notifications of changes of that queue for one minute. */
export async function registerOf(
  connection: Connection,
  queue: string,
  kind: string,
): Promise<Register | undefined> {
  const found = (await seen(connection, queue)).registers[kind];
  return found && { text: textOf(found.content), version: found.version };
}

/**
 * Reads a queue. Schedules another read for the earliest time at which the lease of an entry at the head of
 * the queue may end.
 */
async function seen({ steps, headLeases }: Connection, queue: string): Promise<Seen> {
  const response = await steps.take<Seen>('watch', storedText(queue));
  headLeases.watch(queue, response.endsInMs, Infinity);
  return response;
}

/** Returns the queues that have entries and whose names begin with `prefix`, and the total number of sessions. */
export async function queuesIn(
  { steps }: Connection,
  prefix: string,
): Promise<{ readonly found: readonly FoundQueue[]; readonly sessions: number }> {
  const { queues, sessions } = await steps.take<{
    readonly queues: readonly (Omit<FoundQueue, 'front'> & { readonly front: number })[];
    readonly sessions: number;
  }>('queues', storedText(prefix));
  const found = queues.map(({ name, front, ...queue }) => ({
    ...queue,
    name: textOf(name),
    front: BigInt(front),
  }));
  return { found, sessions };
}

/** Returns a history of the present entries only, because the tables keep nothing about entries that have left. */
export function historyOf(entries: readonly StoredEntry[]): StoredHistory {
  return {
    before: [],
    changes: entries.map((entry) => ({ revision: entry.order, kind: 'joined', entry })),
    gaps: ['The tables keep no history: only the present entries are known.'],
  };
}
