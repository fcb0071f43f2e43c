import { QueueLockError, type QueueEntry } from '@queuelock/core';
import { invalidArgument } from '@queuelock/core/backend';

/** The most members of a round: their ids are kept together in one register, which takes 4,096 bytes. */
export const MAX_MEMBERS = 100;

/** What an entry in the queue of a double barrier says of its owner. */
export interface Member {
  readonly id: string;
  readonly phase: 'waiting' | 'leaving';
  /** How many make a round. */
  readonly members: number;
}

/** The ids of those who go in together, in the order of their entries. */
export type Round = readonly string[];

/** How an entry tells it. */
export function metadataOf({ phase, members }: Omit<Member, 'id'>): Readonly<Record<string, string>> {
  return { phase, members: String(members) };
}

/** Those in line, in order; whoever uses the name for something else is no member. */
export function membersIn(entries: readonly QueueEntry[]): readonly Member[] {
  return entries.flatMap(({ id, shared, metadata: { phase, members } }): Member[] =>
    id !== undefined && shared && (phase === 'waiting' || phase === 'leaving')
      ? [{ id, phase, members: Number(members) }]
      : [],
  );
}

/** @throws {QueueLockError} `LIMIT_MISMATCH` when somebody ahead counts on another number of members. */
export function throwIfMismatched(line: readonly Member[], own: Member, name: string): void {
  const ahead = line.slice(
    0,
    line.findIndex(({ id }) => id === own.id),
  );
  const other = ahead.find(({ members }) => members !== own.members);
  if (!other) return;
  throw new QueueLockError(
    'LIMIT_MISMATCH',
    `${JSON.stringify(name)} is in use with ${other.members} members, here it is ${own.members}: agree on one, or use another name`,
  );
}

/**
 * Who goes in next: the first in line, as many as make a round. `undefined` while too few wait, or while somebody of the last round is
 * still there. Nobody is in two rounds, also as an old picture of the line shows him: who has been in one was in the last,
 * or was gone before that began.
 */
export function nextRound(line: readonly Member[], last: Round, members: number): Round | undefined {
  if (line.some(({ id }) => last.includes(id))) return undefined;
  const waiting = line.filter((member) => member.phase === 'waiting' && member.members === members);
  return waiting.length < members ? undefined : waiting.slice(0, members).map(({ id }) => id);
}

/** Whether all of the round want to leave or are gone, as a line shows it in which one's own entry stands. */
export function allLeave(line: readonly Member[], round: Round): boolean {
  return line.every(({ id, phase }) => phase === 'leaving' || !round.includes(id));
}

/** @throws {QueueLockError} `INVALID_ARGUMENT` for what no double barrier wrote. */
export function roundIn(text: string | undefined): Round {
  if (text === undefined) return [];
  if (/^[0-9a-f]{32}(,[0-9a-f]{32})*$/.test(text)) return text.split(',');
  throw invalidArgument('the register of the round', text, 'holds what a double barrier wrote; empty it');
}

export function textOf(round: Round): string {
  return round.join(',');
}
