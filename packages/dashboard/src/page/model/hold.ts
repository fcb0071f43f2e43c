import type { EntrySnapshot, QueueSnapshot } from '@queuelock/bridge/wire';

/** A bar that compares a hold with its usual duration, or shows its remaining proven time. */
export interface HoldMeter {
  /**
   * What the bar of a hold shows. `budget`: the remaining proven time, which shrinks until the next
   * heartbeat. `typical`: the elapsed part of the usual duration of a hold.
   */
  readonly kind: 'budget' | 'typical' | 'unknown';
  /**
   * The length of a hold's bar from 0 to 1: the elapsed part of the usual duration, or the remaining part of
   * the proven time.
   */
  readonly part: number;
  /**
   * For a bar of the kind `budget`: remaining milliseconds of the proven time. For other kinds: milliseconds
   * since the grant.
   */
  readonly ms: number;
  /** The usual duration of a hold in milliseconds, if it is known. */
  readonly typicalMs: number | undefined;
}

/**
 * Computes the bar (meter) of an entry that holds. `at` is the time of the snapshot and `now` the current time, both by the bridge's clock. `fullMs`
 * is the largest proven time of this hold that the page has seen so far.
 */
export function holdMeter(
  entry: Pick<EntrySnapshot, 'heldAt' | 'remainingMs' | 'typicalHoldMs'>,
  { at, typicalHoldMs }: Pick<QueueSnapshot, 'at' | 'typicalHoldMs'>,
  { now, fullMs }: { readonly now: number; readonly fullMs: number },
): HoldMeter {
  const { heldAt = at, remainingMs } = entry;
  const heldMs = Math.max(0, now - heldAt);
  const typicalMs = entry.typicalHoldMs ?? typicalHoldMs;
  if (remainingMs !== undefined) {
    const ms = Math.max(0, remainingMs - Math.max(0, now - at));
    return { kind: 'budget', part: fullMs > 0 ? Math.min(1, ms / fullMs) : 0, ms, typicalMs };
  }
  if (typicalMs === undefined || typicalMs <= 0)
    return { kind: 'unknown', part: 0, ms: heldMs, typicalMs: undefined };
  return { kind: 'typical', part: Math.min(1, heldMs / typicalMs), ms: heldMs, typicalMs };
}

/** Returns the entries of a queue that are admitted. */
export function holdersOf({ entries }: Pick<QueueSnapshot, 'entries'>): readonly EntrySnapshot[] {
  return entries.filter(({ position }) => position === 0);
}

/** Returns the entries of a queue that wait, in the order of the queue. */
export function waitersOf({ entries }: Pick<QueueSnapshot, 'entries'>): readonly EntrySnapshot[] {
  return entries.filter(({ position }) => position > 0);
}

/**
 * Returns a text that identifies an entry in its queue. It includes the order number, because a later entry
 * may have the same key.
 */
export function entryKey({ key, order }: Pick<EntrySnapshot, 'key' | 'order'>): string {
  return `${order} ${key}`;
}

/** Returns a text with the properties of an entry besides its position, worded as in the terminal views. */
export function notesOf({
  shared,
  permits,
  limit,
  request,
  metadata,
}: Pick<EntrySnapshot, 'shared' | 'permits' | 'limit' | 'request' | 'metadata'>): string {
  const texts = [
    shared ? 'reads' : '',
    limit > 1 ? `${permits} of ${limit}` : '',
    request ? `asks: ${request.reason}` : '',
    ...Object.entries(metadata).map(([name, value]) => `${name}=${value}`),
  ];
  return texts.filter((text) => text !== '').join(', ');
}

/**
 * Returns a sentence for screen readers that names new holders of a lock, or states that no client holds it
 * now. Returns `undefined` if there is nothing to announce.
 */
export function handOffText(before: readonly string[], after: readonly string[]): string | undefined {
  const newHolders = after.filter((owner) => !before.includes(owner));
  if (newHolders.length > 0)
    return `${newHolders.slice(0, 3).join(', ')}${newHolders.length > 3 ? ' and others' : ''} holds now`;
  return before.length > 0 && after.length === 0 ? 'No client holds the lock now' : undefined;
}
