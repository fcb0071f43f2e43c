import type { ContenderSnapshot, ContendersAct, ContendersSnapshot } from '@queuelock/bridge/wire';
import { duration, ordinal } from './text.ts';

/** A button that acts on one process of `queuelock demo`, such as a button that kills or freezes it. */
export interface ContenderButton {
  readonly act: Exclude<ContendersAct['act'], 'add'>;
  readonly title: string;
  readonly isOff: boolean;
}

/**
 * Returns the buttons for one process of `queuelock demo`, always in the same sequence. Only buttons of
 * currently possible actions are enabled.
 */
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

const STATUS: Record<Exclude<ContenderSnapshot['status'], 'waits' | 'gone' | 'expired'>, string> = {
  starts: 'starts',
  joins: 'joins',
  holds: 'holds',
  rests: 'pauses',
};

/** Describes the state of one process of `queuelock demo`, such as its position in the queue. */
export function contenderText({ status, position, end, token, isFrozen }: ContenderSnapshot): string {
  if (status === 'gone') return `has ended: ${end ?? 'by itself'}`;
  if (status === 'expired')
    return isFrozen
      ? 'lost its entry while frozen; it will notice when it resumes'
      : 'lost its entry while cut off; it will notice by its own clock or when it is connected again';
  if (status === 'holds') return token === undefined ? 'holds' : `holds with token ${token}`;
  if (status !== 'waits') return STATUS[status];
  if (position === undefined) return 'waits';
  return position <= 1 ? 'is next' : `waits, ${ordinal(position)} in the queue`;
}

/** The remaining proven time of a hold, as a fraction of the TTL and as text. */
export interface Proven {
  readonly part: number;
  readonly text: string;
}

/**
 * Computes the proven time of a contender that holds, or still believes that it holds. `now` is the time of
 * the bridge's clock.
 */
export function provenOf(
  { status, provenUntil }: ContenderSnapshot,
  { ttlMs }: Pick<ContendersSnapshot, 'ttlMs'>,
  now: number,
): Proven | undefined {
  if (provenUntil === undefined || (status !== 'holds' && status !== 'expired')) return undefined;
  const ms = provenUntil - now;
  if (ms <= 0) return { part: 0, text: 'its proven time has ended' };
  return { part: Math.min(1, ms / ttlMs), text: `${duration(ms)} proven` };
}
