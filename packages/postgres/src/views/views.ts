// Chapter views: what can be seen of queues, of registers, of the store?
// Entries in order (here), texts (registers), and what is to be said about the server (diagnose).

import type { FoundQueue, Register, StoredEntry, StoredHistory } from '@queuelock/core/backend';
import type { Connection } from '../session/connection.ts';
import { keyOf } from '../queue/names.ts';
import { storedText, textOf } from '../queue/text.ts';

interface Seen {
  readonly endsInMs: number | null;
  readonly entries: readonly { readonly ord: number; readonly shared: boolean; readonly value: string }[];
  readonly registers: Readonly<Record<string, { readonly version: string; readonly content: string }>>;
}

/** The entries of a queue in order. From now on changes are told. */
export async function entriesOf(connection: Connection, queue: string): Promise<readonly StoredEntry[]> {
  const { entries } = await seen(connection, queue);
  return entries.map(({ ord, shared, value }) => ({
    key: keyOf(queue, ord),
    order: BigInt(ord),
    shared,
    value: textOf(value),
  }));
}

/** A register of a queue. From now on changes are told. */
export async function registerOf(
  connection: Connection,
  queue: string,
  kind: string,
): Promise<Register | undefined> {
  const found = (await seen(connection, queue)).registers[kind];
  return found && { text: textOf(found.content), version: found.version };
}

/** Looks again when the first lease in front may have ended. */
async function seen({ steps, headLeases }: Connection, queue: string): Promise<Seen> {
  const answer = await steps.take<Seen>('watch', storedText(queue));
  headLeases.watch(queue, answer.endsInMs, Infinity);
  return answer;
}

/** Those that are not empty and whose names begin so. */
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

/** Who is there: those who have left are forgotten. */
export function historyOf(entries: readonly StoredEntry[]): StoredHistory {
  return {
    before: [],
    changes: entries.map((entry) => ({ revision: entry.order, kind: 'joined', entry })),
    gaps: ['The tables keep no history: those who have left are not known any more.'],
  };
}
