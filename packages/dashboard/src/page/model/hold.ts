import type { EntrySnapshot, QueueSnapshot } from '@queuelock/bridge/wire';

/** How a hold stands against what is usual, or against what is proven. */
export interface HoldMeter {
  /** `budget`: what is left of the proven time, shrinking until the next heartbeat. `typical`: what is used of the usual time. */
  readonly kind: 'budget' | 'typical' | 'unknown';
  /** From 0 to 1. */
  readonly part: number;
  /** With `budget`: milliseconds left; otherwise milliseconds held. */
  readonly ms: number;
  /** With `typical`: the usual length of a hold in milliseconds. */
  readonly typicalMs: number | undefined;
}

/** Of an entry that holds, in a queue as it was at `at`; `now` by the bridge's clock. `fullMs`: the largest budget seen of it. */
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

/** Those whose turn has come. */
export function holdersOf({ entries }: Pick<QueueSnapshot, 'entries'>): readonly EntrySnapshot[] {
  return entries.filter(({ position }) => position === 0);
}

/** Those who wait, in order. */
export function waitersOf({ entries }: Pick<QueueSnapshot, 'entries'>): readonly EntrySnapshot[] {
  return entries.filter(({ position }) => position > 0);
}

/** Names an entry in this queue; a key may be used again after it was removed, not with the same order. */
export function entryKey({ key, order }: Pick<EntrySnapshot, 'key' | 'order'>): string {
  return `${order} ${key}`;
}

/** What is to be said of an entry besides its place, in the words of the terminal views. */
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

/** What somebody who cannot see the page is told when those who hold have changed; `undefined`: nothing. */
export function handOffWords(before: readonly string[], after: readonly string[]): string | undefined {
  const came = after.filter((owner) => !before.includes(owner));
  if (came.length > 0)
    return `${came.slice(0, 3).join(', ')}${came.length > 3 ? ' and others' : ''} holds now`;
  return before.length > 0 && after.length === 0 ? 'Nobody holds now' : undefined;
}
