import type { ContenderSnapshot, ContendersAct, ContendersSnapshot } from '@queuelock/bridge/wire';
import { duration, ordinal } from './text.ts';

/** A button of a contender. */
export interface ContenderButton {
  readonly act: Exclude<ContendersAct['act'], 'add'>;
  readonly title: string;
  readonly isOff: boolean;
}

/** What can be done to a contender now; the same places in the row whatever its state. */
export function buttonsOf(
  { status, isFrozen, isCut }: ContenderSnapshot,
  { canCut }: Pick<ContendersSnapshot, 'canCut'>,
): readonly ContenderButton[] {
  if (status === 'gone') return [];
  const cut: ContenderButton = isCut
    ? { act: 'mend', title: 'Connect', isOff: false }
    : { act: 'cut', title: 'Cut off', isOff: isFrozen };
  return [
    { act: 'release', title: 'Release', isOff: status !== 'holds' || isFrozen || isCut },
    isFrozen
      ? { act: 'thaw', title: 'Thaw', isOff: false }
      : { act: 'freeze', title: 'Freeze', isOff: false },
    ...(canCut ? [cut] : []),
    { act: 'kill', title: 'Kill', isOff: false },
  ];
}

const STATUS: Record<Exclude<ContenderSnapshot['status'], 'waits' | 'gone'>, string> = {
  starts: 'starts',
  joins: 'joins',
  holds: 'holds',
  rests: 'rests',
  expired: 'has lost its place, and cannot know',
};

/** What a contender is at, in words. */
export function contenderWords({ status, position, end, token }: ContenderSnapshot): string {
  if (status === 'gone') return `is gone: ${end ?? 'ended'}`;
  if (status === 'holds') return token === undefined ? 'holds' : `holds with token ${token}`;
  if (status !== 'waits') return STATUS[status];
  if (position === undefined) return 'waits';
  return position <= 1 ? 'is next' : `waits, ${ordinal(position)} in line`;
}

/** What is left of a proven hold: as part of the TTL, and in words. */
export interface Proven {
  readonly part: number;
  readonly words: string;
}

/** Of one that holds, or believes so; `now` by the bridge's clock. */
export function provenOf(
  { status, provenUntil }: ContenderSnapshot,
  { ttlMs }: Pick<ContendersSnapshot, 'ttlMs'>,
  now: number,
): Proven | undefined {
  if (provenUntil === undefined || (status !== 'holds' && status !== 'expired')) return undefined;
  const ms = provenUntil - now;
  if (ms <= 0) return { part: 0, words: 'nothing is proven any more' };
  return { part: Math.min(1, ms / ttlMs), words: `${duration(ms)} proven` };
}
