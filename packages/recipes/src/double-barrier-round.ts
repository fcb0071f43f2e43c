import { QueueLockError, type QueueEntry } from '@queuelock/core';
import { invalidArgument } from '@queuelock/core/backend';

/** Largest number of members of a round. The ids of so many members fit into one register of 4,096 bytes. */
export const MAX_MEMBERS = 100;

/** An entry in the queue of a double barrier. */
export interface Member {
  readonly id: string;
  readonly phase: 'waiting' | 'leaving';
  /** Number of members that a round needs, according to the client of the entry. */
  readonly members: number;
}

/** A round: the ids of its members, in the order of their entries. */
export type Round = readonly string[];

/** Returns the metadata of an entry: its phase (waiting or leaving) and the number of members it expects. */
export function metadataOf({ phase, members }: Omit<Member, 'id'>): Readonly<Record<string, string>> {
  return { phase, members: String(members) };
}

/** Returns the members in a queue, in order. Leaves out entries that no double barrier has made. */
export function membersIn(entries: readonly QueueEntry[]): readonly Member[] {
  return entries.flatMap(({ id, shared, metadata: { phase, members } }): Member[] =>
    id !== undefined && shared && (phase === 'waiting' || phase === 'leaving')
      ? [{ id, phase, members: Number(members) }]
      : [],
  );
}

/**
 * Checks that all entries ahead of `own` have the same number of members.
 * @throws {QueueLockError} `LIMIT_MISMATCH` when an entry ahead has another number
 */
export function throwIfMismatched(line: readonly Member[], own: Member, name: string): void {
  const ahead = line.slice(
    0,
    line.findIndex(({ id }) => id === own.id),
  );
  const other = ahead.find(({ members }) => members !== own.members);
  if (!other) return;
  throw new QueueLockError(
    'LIMIT_MISMATCH',
    `${JSON.stringify(name)} is in use with ${other.members} members, here it is ${own.members}: use the same number in all clients, or another name`,
  );
}

/**
 * Returns the next round: the first waiting members of the queue, as many as a round needs. Returns
 * `undefined` while too few members wait, or while an entry of the previous round, `last`, is still in the
 * queue. No entry gets into two rounds, even if the snapshot is out of date: a round is written only after
 * all entries of the previous round have left.
 */
export function nextRound(line: readonly Member[], last: Round, members: number): Round | undefined {
  if (line.some(({ id }) => last.includes(id))) return undefined;
  const waiting = line.filter((member) => member.phase === 'waiting' && member.members === members);
  return waiting.length < members ? undefined : waiting.slice(0, members).map(({ id }) => id);
}

/**
 * Returns whether every member of the round is leaving or has left the queue.
 * @param line the members in a snapshot of the queue that contains the caller's own entry
 */
export function allLeave(line: readonly Member[], round: Round): boolean {
  return line.every(({ id, phase }) => phase === 'leaving' || !round.includes(id));
}

/**
 * Reads a round from the text of its register.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a text that no double barrier wrote
 */
export function roundIn(text: string | undefined): Round {
  if (text === undefined) return [];
  if (/^[0-9a-f]{32}(,[0-9a-f]{32})*$/.test(text)) return text.split(',');
  throw invalidArgument('the register of the round', text, 'contains what a double barrier wrote; clear it');
}

export function textOf(round: Round): string {
  return round.join(',');
}
